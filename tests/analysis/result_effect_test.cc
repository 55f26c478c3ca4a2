// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/result_effect.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

std::vector<ResultEffectRow> EffectsOf(ResultTable table) {
  Trace trace;
  trace.program_output.results = std::move(table);
  const Context context = test::ContextOf(trace);
  return ComputeResultEffects(context);
}

TEST(ResultEffect, ComparesWhatDiffersInNothingElse) {
  ResultTable table{"ms", false, {"backend", "n", "micro"}, {}, 0};
  for (const char* backend : {"a", "b"})
    for (const char* n : {"100", "200"})
      for (const char* micro : {"4", "8"})
        table.rows.push_back(
            {{backend, n, micro},
             (backend[0] == 'a' ? 1.0 : 2.0) * (n[0] == '1' ? 10 : 20) * (micro[0] == '4' ? 3 : 1)});
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 2u) << "n is the size of the problem";
  EXPECT_EQ(rows[0].setting, "micro");
  EXPECT_EQ(rows[0].best, "8");
  EXPECT_NEAR(rows[0].times, 3, 1e-9);
  EXPECT_EQ(rows[0].groups, 4);
  EXPECT_EQ(rows[1].setting, "backend");
  EXPECT_NEAR(rows[1].times, 2, 1e-9);
}

TEST(ResultEffect, WhatFollowsFromOthersIsNoSetting) {
  ResultTable table{"ms", false, {"backend", "micro", "pieces"}, {}, 1};
  for (const char* backend : {"a", "b"}) {
    table.rows.push_back({{backend, "4", "8"}, 30});
    table.rows.push_back({{backend, "8", "4"}, 10});
    table.rows.push_back({{backend, "16", "2"}, 0});
  }
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].setting, "micro");
  EXPECT_NEAR(rows[0].times, 3, 1e-9);
  EXPECT_EQ(rows[0].compared, 2);
  EXPECT_EQ(rows[0].failed, 1);
}

TEST(ResultEffect, OfARateMoreIsBetter) {
  ResultTable table{"tok/s", true, {"batch"}, {}, 0};
  table.rows = {{{"1"}, 10}, {{"8"}, 60}};
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].best, "8");
  EXPECT_NEAR(rows[0].times, 6, 1e-9);
}

}  // namespace
}  // namespace dladvisor
