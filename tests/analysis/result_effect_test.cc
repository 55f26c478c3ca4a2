// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/result_effect.h"

#include <gtest/gtest.h>

#include <tuple>
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
  ResultTable table{"ms", false, {"backend", "n", "micro"},
                    {},   0,     {SettingKind::kChoice, SettingKind::kGiven, SettingKind::kChoice},
                    ""};
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
  ResultTable table{"ms", false, {"backend", "micro", "pieces"},
                    {},   1,     {SettingKind::kChoice, SettingKind::kChoice, SettingKind::kGiven},
                    ""};
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
  ResultTable table{"tok/s", true, {"backend"}, {}, 0, {SettingKind::kChoice}, ""};
  table.rows = {{{"a"}, 10}, {{"8"}, 60}};
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].best, "8");
  EXPECT_NEAR(rows[0].times, 6, 1e-9);
}

TEST(ResultEffect, FromSomeLoadOnMoreBringsNothing) {
  ResultTable table{"ms", false, {"batch"}, {}, 1, {SettingKind::kLoad}, "img/s"};
  table.rows = {{{"1"}, 1, 100},   {{"8"}, 1, 700},  {{"16"}, 1, 980},
                {{"32"}, 1, 1000}, {{"64"}, 1, 990}, {{"128"}, 0, 0, true, true}};
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, "load");
  EXPECT_EQ(rows[0].measure, "img/s");
  EXPECT_EQ(rows[0].best, "32");
  EXPECT_EQ(rows[0].enough, "16");
  EXPECT_NEAR(*rows[0].enough_share, 0.98, 1e-9);
  EXPECT_EQ(rows[0].last, "64");
  EXPECT_NEAR(*rows[0].last_share, 0.99, 1e-9);
  EXPECT_EQ(rows[0].full_from, "128");
  EXPECT_NEAR(rows[0].times, 10, 1e-9);
}

TEST(ResultEffect, OfDevicesWhatEachDoes) {
  ResultTable table{
      "img/s", true, {"gpus", "global_batch"}, {}, 0, {SettingKind::kDevices, SettingKind::kLoad}, "img/s"};
  table.rows = {{{"1", "32"}, 410, 410}, {{"2", "64"}, 780, 780}, {{"8", "256"}, 1510, 1510}};
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 1u) << "the batch follows from the devices";
  EXPECT_EQ(rows[0].kind, "devices");
  EXPECT_EQ(rows[0].best, "8");
  EXPECT_EQ(rows[0].efficient_to, "2");
  EXPECT_NEAR(*rows[0].efficiency, 1510.0 / 8 / 410, 1e-9);
}

TEST(ResultEffect, OfWorkersTheFewestThatDo) {
  ResultTable table{"s", false, {"num_workers"}, {}, 0, {SettingKind::kChoice}, ""};
  table.rows = {{{"0"}, 200}, {{"4"}, 71}, {{"8"}, 51}, {{"16"}, 50.5}};
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].best, "8");
  EXPECT_EQ(rows[0].worst, "0");
}

TEST(ResultEffect, WhatAChoiceBringsInASetOfItsOwn) {
  ResultTable table{"ms", false, {"mode", "batch"}, {}, 0, {SettingKind::kChoice, SettingKind::kGiven}, ""};
  table.rows = {{{"eager", "1"}, 30}, {{"eager", "8"}, 90}, {{"compiled", "1"}, 10}, {{"compiled", "8"}, 60}};
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NEAR(rows[0].times, 120.0 / 70, 1e-9);
  EXPECT_NEAR(*rows[0].least_times, 1.5, 1e-9);
  EXPECT_NEAR(*rows[0].most_times, 3, 1e-9);
}

TEST(ResultEffect, NothingOfAChoiceThatGoesWithALargerBatch) {
  ResultTable table{"ms", false, {"mode", "batch"}, {}, 0, {SettingKind::kChoice, SettingKind::kLoad}, ""};
  table.rows = {{{"a", "1"}, 30}, {{"b", "8"}, 90}, {{"c", "16"}, 10}};
  EXPECT_TRUE(EffectsOf(table).empty());
}

TEST(ResultEffect, OfALoadTheSetsThatGainLeastAndMost) {
  ResultTable table{"ttft", false, {"case", "c"}, {}, 0, {SettingKind::kGiven, SettingKind::kLoad}, "tok/s"};
  for (const auto& [name, one, four] : {std::tuple{"decode", 18.0, 70.2}, std::tuple{"prefill", 3.0, 3.3}})
    for (const auto& [c, pace] : {std::pair{"1", one}, std::pair{"4", four}})
      table.rows.push_back({{name, c}, 1, pace});
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].least_of, "prefill");
  EXPECT_NEAR(*rows[0].least_times, 1.1, 1e-9);
  EXPECT_EQ(rows[0].most_of, "decode");
  EXPECT_NEAR(*rows[0].most_times, 3.9, 1e-9);
}

TEST(ResultEffect, MeansOfWhatIsGiven) {
  ResultTable table{"tok/s", true, {"Model", "Prompt"}, {}, 0, {SettingKind::kGiven, SettingKind::kGiven},
                    ""};
  for (const char* model : {"a", "b"})
    for (const char* prompt : {"one", "two"})
      table.rows.push_back({{model, prompt}, (model[0] == 'a' ? 10.0 : 30.0) + (prompt[0] == 'o' ? 0 : 2)});
  EXPECT_EQ(ResultsText(table), "4 results, tok/s 10 to 32; by Model on average a 11, b 31");
  table.rows.pop_back();
  EXPECT_EQ(ResultsText(table), "3 results, tok/s 10 to 30; by Model on average a 10, b 30")
      << "of the prompt that both have";
}

TEST(ResultEffect, OfColumnsThoseAtTheGreatestSize) {
  ResultTable table{"times", false, {"N", ""}, {}, 0, {SettingKind::kGiven, SettingKind::kChoice}, ""};
  for (const char* size : {"1024.0", "2048.0"})
    for (const auto& [way, time] : {std::pair{"torch", 2.0}, std::pair{"own", 4.0}})
      table.rows.push_back({{size, way}, time});
  EXPECT_EQ(ResultsText(table), "4 results, times 2 to 4; at N 2048 torch 2, own 4");
  std::swap(table.rows[0], table.rows[2]);
  std::swap(table.rows[1], table.rows[3]);
  EXPECT_EQ(ResultsText(table), "4 results, times 2 to 4") << "the last is not the greatest";
}

TEST(ResultEffect, ARowWithoutSettingsChangesNone) {
  ResultTable table{
      "s",    false, {"batch", "tokens"}, {{{"", ""}, 0}}, 0, {SettingKind::kLoad, SettingKind::kGiven},
      "tok/s"};
  for (const auto& [batch, tokens, pace] :
       {std::tuple{"1", "128", 24.0}, std::tuple{"8", "1024", 273.0}, std::tuple{"32", "4096", 1251.0}})
    table.rows.push_back({{batch, tokens}, 3, pace});
  const auto rows = EffectsOf(table);
  ASSERT_EQ(rows.size(), 1u) << "tokens follow from the batch";
  EXPECT_EQ(rows[0].setting, "batch");
  EXPECT_EQ(rows[0].best, "32");
}

}  // namespace
}  // namespace dladvisor
