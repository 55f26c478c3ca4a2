// SPDX-License-Identifier: Apache-2.0
// Hostile rules end by their budget and leave the others alone. `./dev bench hostile` shows what each takes
// with the program's own limits.
#include "tests/engine/hostile_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/inference/inference.h"

namespace dladvisor {
namespace {

constexpr int64_t kMemory = 24 << 20;

class HostileRules : public testing::TestWithParam<size_t> {};

TEST_P(HostileRules, EndAndLeaveTheOthersAlone) {
  static const Table events = test::Events(300);
  static const Schema schema = test::EventSchema();
  Database database;
  database.Add(events);
  database.SetStepBudget(300'000);
  database.SetMemoryLimit(kMemory);
  database.SetTimeLimit(std::chrono::milliseconds(50));
  const std::string& condition = test::HostileConditions()[GetParam()];
  KnowledgeBase knowledge({&schema});
  try {
    knowledge.AddLayer(std::vector<RuleFile>{test::HostileRule(condition)});
  } catch (const RuleErrors& errors) {  // such as patterns that are too large are refused at once
    EXPECT_EQ(errors.problems().size(), 1u);
    return;
  }
  knowledge.AddLayer(std::vector<RuleFile>{
      {"r/sound.yaml", "id: sound\ntitle: T\nfor: event\nwhen: [id = 7]\nproblem: P\nrecommendation: R\n"}});
  const Advice advice = Infer(knowledge, database);
  size_t sound = 0;
  for (const Finding& finding : advice.findings) {
    if (finding.rule == "sound" && finding.outcome == Outcome::kFired) ++sound;
    if (finding.outcome == Outcome::kFailed) {
      EXPECT_NE(finding.error, "") << condition;
    }
  }
  EXPECT_EQ(sound, 1u) << condition;
}

INSTANTIATE_TEST_SUITE_P(All, HostileRules, testing::Range<size_t>(0, test::HostileConditions().size()));

TEST(HostileRulesList, HasManyKinds) { EXPECT_GE(test::HostileConditions().size(), 110u); }

// A finding for each of many rows, each with a long text.
TEST(HostileRulesList, FindingsAreBounded) {
  const Table events = test::Events(2000);
  const Schema schema = test::EventSchema();
  Database database;
  database.Add(events);
  KnowledgeBase knowledge({&schema});
  knowledge.AddLayer(
      std::vector<RuleFile>{{"r/long.yaml", "id: long\ntitle: T\nfor: event\nlet:\n  text: \"replace('" +
                                                std::string(400, 'a') + "', 'a', '" + std::string(200, 'b') +
                                                "') || id\"\nwhen: [text > 'a']\nproblem: \"{{text}}\"\n"
                                                "recommendation: R\n"}});
  const Advice advice = Infer(knowledge, database);
  ASSERT_EQ(advice.findings.size(), 1u);
  EXPECT_EQ(advice.findings[0].error, "has findings of more than 128 MiB");
}

}  // namespace
}  // namespace dladvisor
