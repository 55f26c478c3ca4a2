// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/finding_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/message.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

TEST(FindingWords, NameFactsAsPeopleDo) {
  EXPECT_EQ(NameWords("idle_share"), "Idle share");
  EXPECT_EQ(NameWords("gpu.starved_ns"), "Starved time");
  EXPECT_EQ(NameWords("gpu_utilization"), "GPU utilization");
}

TEST(FindingWords, LabelFactsButNoTruthsAndNoKeys) {
  Finding finding;
  finding.subject = {{"rank", int64_t{5}, Unit::kNone}};
  finding.why = {Compared("idle_share", ">", ":min_idle", 0.589, 0.15, Unit::kRatio),
                 Compared("rank", ">", "0", int64_t{5}, int64_t{0}, Unit::kNone)};
  finding.lets = {{"array_library", int64_t{0}, Unit::kNone},
                  {"training", int64_t{1}, Unit::kNone},
                  {"lost_ns", 2e6, Unit::kNanoseconds},
                  {"idle_share", 0.589, Unit::kRatio}};
  finding.lets.push_back({"inner_ns", 3e6, Unit::kNanoseconds});
  finding.problem = RenderMessage("Loses {{lost_ns}}.", finding.lets);
  const std::vector<std::pair<std::string, std::string>> expected = {{"Idle share", "58.9 %"},
                                                                     {"Lost time", "2.00 ms"}};
  EXPECT_EQ(KeyFacts(finding), expected);
}

TEST(FindingWords, LabelFactsAsTheProblemHasThem) {
  Finding finding;
  finding.lets = {{"lost_ns", 6e6, Unit::kNanoseconds}, {"longest_ns", 3e6, Unit::kNanoseconds}};
  finding.problem =
      RenderMessage("It loses {{lost_ns/step}}, {{longest_ns}} at once.", finding.lets, {.periods = 3});
  const std::vector<std::pair<std::string, std::string>> expected = {{"Lost time", "2.00 ms per step"},
                                                                     {"Longest time", "3.00 ms"}};
  EXPECT_EQ(KeyFacts(finding), expected);
}

TEST(FindingWords, NameAPlaceThatStays) {
  Finding finding;
  finding.rule = "slow \"rule\"";
  finding.subject = {{"rank", int64_t{5}, Unit::kNone}};
  const std::string anchor = FindingAnchor(finding);
  EXPECT_TRUE(anchor.starts_with("finding-slow--rule--")) << anchor;
  finding.problem = "takes 3 ms";
  EXPECT_EQ(FindingAnchor(finding), anchor);
}

}  // namespace
}  // namespace dladvisor::test
