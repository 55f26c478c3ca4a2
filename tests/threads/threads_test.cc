// SPDX-License-Identifier: Apache-2.0
// What runs on several threads, for the thread sanitizer (`./dev test` builds this one program with it): the
// parts of large tables, the families of one analysis, and whole profiles side by side.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <utility>

#include "engine/inference/inference.h"
#include "src/fleet/load_profiles.h"
#include "tests/analysis/trace_builder.h"
#include "tests/importers/large_export.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

Trace Drawn() {
  test::TraceBuilder b;
  for (int i = 0; i < 200; ++i) {
    const Ns t = i * 1000;
    b.Range(t, t + 900, "iteration " + std::to_string(i));
    b.Range(t + 10, t + 500, "aten::linear, seq = " + std::to_string(i));
    b.Launch(t + 20, t + 100, t + 400, "ampere_sgemm_128x64_tn");
    b.Api(t + 600, t + 700, "cudaDeviceSynchronize", 0);
  }
  return std::move(b.trace);
}

// The text of every cell, for comparison.
std::string Dump(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables)
    for (size_t r = 0; r < table.rows(); ++r)
      for (size_t c = 0; c < table.schema().columns.size(); ++c) {
        const CellView cell = table.At(r, c);
        text += fmt::format("{},{},{}|", cell.integer, cell.real, cell.text);
      }
  return text;
}

TEST(Threads, AnalysesSideBySideAgree) {
  const Trace trace = Drawn();
  const std::string expected = Dump(Analyze(trace).relations);
  std::vector<std::string> dumps(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& dump : dumps) threads.emplace_back([&] { dump = Dump(Analyze(trace).relations); });
  }
  for (const std::string& dump : dumps) EXPECT_EQ(dump, expected);
}

TEST(Threads, PartsOfLargeTables) {
  const test::ScratchDir dir;
  const Profile profile = LoadProfile(test::MakeLargeExport(dir.path() / "large.sqlite", true), {});
  EXPECT_EQ(profile.trace->processes.size(), 2u);
}

TEST(Threads, RealProfilesSideBySide) {
  const auto files = test::DataFiles("nsys_sqlite", ".sqlite");
  if (files.empty()) GTEST_SKIP() << "no real profiles: set DLADVISOR_DATA to their folder";
  std::vector<int64_t> rows(4, 0);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < rows.size(); ++t)
      threads.emplace_back([&, t] {
        for (size_t i = t; i < files.size(); i += rows.size()) {
          const Profile profile = LoadProfile(files[i], {});
          rows[t] += std::get<int64_t>(profile.OpenDatabase().Query("SELECT count(*) FROM run").rows[0][0]);
        }
      });
  }
  EXPECT_EQ(rows[0] + rows[1] + rows[2] + rows[3], static_cast<int64_t>(files.size()));
}

}  // namespace
}  // namespace dladvisor
