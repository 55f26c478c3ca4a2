// dladvisor rules list | check | test
#include <fmt/format.h>

#include "engine/rule_test.h"
#include "src/cli/session.h"

namespace dladvisor {
namespace {

void List(const CommonOptions& common) {
  const KnowledgeBase knowledge = LoadRules(common);
  for (const Rule& rule : knowledge.rules())
    fmt::print("{:<26} {:<16} {:<8} {}\n", rule.id, rule.category, SeverityName(rule.severity), rule.title);
}

void Check(const CommonOptions& common) {
  const KnowledgeBase knowledge = LoadRules(common);
  for (const std::string& rule : RunRuleTests(knowledge, LoadRuleTests(common)).untested)
    fmt::print(stderr, "warning: {}\n", rule);
  fmt::print("{} rules are well formed\n", knowledge.rules().size());
}

void Test(const CommonOptions& common) {
  const KnowledgeBase knowledge = LoadRules(common);
  const RuleTestReport report = RunRuleTests(knowledge, LoadRuleTests(common));
  size_t failed = 0;
  for (const RuleTestResult& result : report.results) {
    if (result.passed) continue;
    ++failed;
    fmt::print("FAILED {}: {}\n{}\n", result.rule, result.test, result.diff);
  }
  fmt::print("{} rule tests passed, {} failed\n", report.results.size() - failed, failed);
  if (failed > 0) throw CLI::RuntimeError(1);
}

}  // namespace

void AddRulesCommand(CLI::App& app, const CommonOptions& common) {
  CLI::App* command = app.add_subcommand("rules", "List, check and test the rules");
  command->require_subcommand(1);
  command->fallthrough();
  command->add_subcommand("list", "Every rule with its category, severity and title")->callback([&common] {
    List(common);
  });
  command->add_subcommand("check", "Check all rule files; no profile is needed")->callback([&common] {
    Check(common);
  });
  command->add_subcommand("test", "Run the tests beside the rules; status 1 where one fails")
      ->callback([&common] { Test(common); });
}

}  // namespace dladvisor
