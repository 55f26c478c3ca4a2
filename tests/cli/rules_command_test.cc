// SPDX-License-Identifier: Apache-2.0
// rules show, test, docs and new, explain, and the project file, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "engine/authoring/rule_template.h"
#include "src/cli/session.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Runs the program in a folder, with a rule of the team and a project file in it.
class RulesCommand : public testing::Test {
 protected:
  RulesCommand() {
    WriteFile("team/net/slow.yaml",
              "id: slow\ntitle: Slow\nfor: gpu\nparams: {least: {default: 0.5, unit: ratio, doc: D.}}\n"
              "let: {doubled: idle_share * 2}\nwhen: [idle_share > :least]\nproblem: \"{{idle_share}} "
              "{{doubled}}\"\n"
              "recommendation: R\n");
    WriteFile(
        "team/net/slow.test.yaml",
        "tests:\n"
        "  - {name: fires, given: {gpu: [{rank: 0, device: 0, idle_share: 0.75}]}, expect: [{outcome: fired, "
        "values: {doubled: 1.5}}]}\n"
        "  - {name: clear, given: {gpu: [{rank: 0, device: 0, idle_share: 0.5}]}, expect: [{outcome: "
        "clear}]}\n"
        "  - {name: unknown, given: {gpu: [{rank: 0, device: 0}]}, expect: [{outcome: unknown}]}\n");
    WriteFile("dladvisor.yaml",
              "rule_folders: [team]\nrules: {slow: [error, {least: 0.25}], rank-imbalance: off}\n");
    fs::create_directories(folder_.path() / "below/it");
  }

  void WriteFile(const std::string& name, const std::string& content) {
    fs::create_directories((folder_.path() / name).parent_path());
    test::WriteFile(folder_.path() / name, content);
  }

  std::string Run(const std::string& arguments, int status = 0, const std::string& in = ".") {
    const test::RunResult run = test::Run("cd '" + (folder_.path() / in).string() + "' && " +
                                          test::ProgramPath().string() + " " + arguments);
    EXPECT_EQ(run.status, status) << arguments << "\n" << run.err << run.out;
    return run.out + run.err;
  }

  test::ScratchDir folder_;
};

TEST_F(RulesCommand, TheProjectIsFoundUpwards) {
  const std::string list = Run("rules list", 0, "below/it");
  EXPECT_THAT(list, HasSubstr("slow                       net              error    Slow"));
  EXPECT_THAT(list, Not(HasSubstr("rank-imbalance")));
  EXPECT_THAT(
      Run("rules show slow", 0, "below/it"),
      HasSubstr("# ../../team/net/slow.yaml\n# severity: error, set in ../../dladvisor.yaml:2\n# least: 25.0 "
                "%, set in ../../dladvisor.yaml:2\n# reads: gpu\nid: slow\n"));
  WriteFile("other.yaml", "rules: {}\n");
  EXPECT_THAT(Run("--config other.yaml rules list"), Not(HasSubstr("slow  ")));
  WriteFile("blank.yaml", "# nothing yet\n");
  EXPECT_THAT(Run("--config blank.yaml rules list"), HasSubstr("rank-imbalance"));
  EXPECT_THAT(Run("rules show rank-imbalance", 3),
              HasSubstr("is off\n  It was switched off in dladvisor.yaml:2."));
  EXPECT_THAT(Run("--rules team rules list"), HasSubstr("slow  "));  // named twice, read once
  EXPECT_THAT(Run("--config no.yaml rules list", 3), HasSubstr("no.yaml: is not a readable project file"));
}

TEST_F(RulesCommand, TestsRunWithTheThresholdsOfTheRuleAndCanBeChosen) {
  EXPECT_THAT(Run("rules test --filter slow:"), HasSubstr("3 rule tests passed, 0 failed"));
  EXPECT_THAT(Run("rules test --filter nowhere", 3), HasSubstr("no test has this in its rule or name"));
  const auto report = nlohmann::json::parse(Run("rules test --json --filter 'slow: c'"));
  EXPECT_EQ(report["passed"], 1);
  EXPECT_EQ(report["tests"][0]["rule"], "slow");
  EXPECT_EQ(report["tests"][0]["passed"], true);
}

TEST_F(RulesCommand, AFailingTestShowsTheDifference) {
  WriteFile("team/net/slow.test.yaml",
            "tests: [{name: fires, given: {gpu: [{rank: 0, device: 0, idle_share: 0.75}]}, expect: "
            "[{outcome: clear, "
            "values: {doubled: 2}}]}]\n");
  const std::string out = Run("rules test --filter slow:", 1);
  EXPECT_THAT(out, HasSubstr("FAILED slow: fires\n  outcome:\n  - expected clear\n  + actual   fired\n"));
  EXPECT_THAT(out, HasSubstr("  doubled:\n  - expected 2\n  + actual   1.5\n"));
  EXPECT_THAT(Run("rules check"), HasSubstr("slow: no test expects fired, unknown"));
}

TEST_F(RulesCommand, MistakesOfARuleAndOfItsTestsAreSaidTogether) {
  Run("rules new io/slow-ckpt --for run -o both");
  const auto replace = [&](const std::string& file, const char* from, const char* to) {
    std::string text = test::ReadFile(folder_.path() / file);
    text.replace(text.find(from), std::string_view(from).size(), to);
    WriteFile(file, text);
  };
  replace("both/io/slow-ckpt.yaml", "problem:", "problme:");
  replace("both/io/slow-ckpt.test.yaml", "run:", "rnu:");
  for (const char* command :
       {"--rules both rules check", "--rules both rules test", "rules check both/io/slow-ckpt.yaml",
        "rules check both/io/slow-ckpt.test.yaml"})
    EXPECT_THAT(Run(command, 3), AllOf(HasSubstr("no key 'problme' (did you mean problem?)"),
                                       HasSubstr("no such relation: rnu (did you mean run?)")))
        << command;
}

TEST_F(RulesCommand, AProjectFileIsCheckedAsOne) {
  const std::string preset = (test::SourceDir() / "examples/presets/nsys-analyze.yaml").string();
  EXPECT_EQ(Run("rules check " + preset), preset + " is well formed\n");
  WriteFile("other/dladvisor.yaml", "gate: {new_findings: warn}\n");
  EXPECT_EQ(Run("rules check other/dladvisor.yaml"), "other/dladvisor.yaml is well formed\n");
  WriteFile("other/dladvisor.yaml",
            "gate: {waivers: [{rule: slow-host, reason: known, until: 2020-01-01}], metrics: "
            "{gpu.utilization: {min: 0.85 %}}}\n");
  EXPECT_THAT(
      Run("rules check other/dladvisor.yaml 2>&1"),
      testing::AllOf(HasSubstr("warning: other/dladvisor.yaml:1:18: the waiver of 'slow-host' expired on "
                               "2020-01-01 and counts no longer"),
                     HasSubstr("'min' of gpu.utilization is below 1 %, which nearly every run has: 85 % "
                               "is 85 % or 0.85")));
  WriteFile("other/dladvisor.yaml", "gate: {new_findigns: warn}\n");
  EXPECT_THAT(
      Run("rules check other/dladvisor.yaml", 3),
      HasSubstr("other/dladvisor.yaml:1:8: gate has no key 'new_findigns' (did you mean new_findings?)"));
}

TEST_F(RulesCommand, ATableOfGpuModelsIsCheckedAsOne) {
  const std::string gpu =
      "gpus: [{model: Mine, names: [Mine], architecture: sm80, multiprocessors: 108, "
      "boost_clock_mhz: 1410, source: datasheet, matrix_tflops: {bf16: ";
  WriteFile("gpus.yaml", gpu + "312}}]\n");
  EXPECT_THAT(Run("rules check gpus.yaml"), HasSubstr("gpus.yaml is well formed"));
  WriteFile("gpus.yaml", gpu + "624}}]\n");
  EXPECT_THAT(Run("rules check gpus.yaml", 3), HasSubstr("gpus.yaml:1"));
  EXPECT_THAT(Run("rules check .", 3), HasSubstr(".: is a folder, and this checks one file"));
}

TEST_F(RulesCommand, EveryRelationGivesANewRuleThatPasses) {
  const KnowledgeBase knowledge = LoadConfiguredRules({}, {});
  std::istringstream lines(Run("facts"));
  int count = 0;
  for (std::string line; std::getline(lines, line) && !line.empty(); ++count) {
    const std::string relation = line.substr(0, line.find(' '));
    std::string id = "new-" + relation;
    std::ranges::replace(id, '_', '-');
    for (const DocFile& file : NewRule(knowledge, "mine/" + id, relation))
      WriteFile("fresh/" + file.name, file.content);
  }
  EXPECT_GT(count, 30);
  EXPECT_THAT(Run("--rules fresh rules test --filter new-"), HasSubstr(", 0 failed"));
  EXPECT_THAT(Run("--rules fresh rules check"), Not(HasSubstr("no test expects")));
  EXPECT_THAT(Run("rules new mine/new-step --for step -o again"),
              HasSubstr("wrote again/mine/new-step.yaml"));
  EXPECT_THAT(Run("rules new mine/new-step --for step -o again", 3), HasSubstr("already exists"));
  EXPECT_THAT(Run("rules new Mine/x", 3), HasSubstr("is not of the form CATEGORY/ID"));
  const std::string underscore = Run("rules new t/x-time_ledger", 3);
  EXPECT_THAT(underscore, HasSubstr("'x-time_ledger' has characters other than a-z, 0-9 and -"));
  EXPECT_THAT(underscore, HasSubstr("For example t/x-time-ledger."));
  EXPECT_THAT(Run("rules new slow-step", 3), HasSubstr("For example io/slow-step."));
  EXPECT_THAT(Run("rules new ../../x/y", 3), HasSubstr("For example x/y."));
  EXPECT_THAT(Run("rules new ../Y", 3), HasSubstr("For example io/y."));
  EXPECT_THAT(Run("rules new mine/x --for gup", 3), HasSubstr("did you mean gpu?"));
}

TEST_F(RulesCommand, ANewRuleNamesTheNextStep) {
  EXPECT_THAT(Run("rules new mine/x --for gpu -o fresh"),
              HasSubstr("Next: edit the rule, then `dladvisor --rules fresh rules test --filter x`"));
  fs::copy(test::SourceDir() / "rules", folder_.path() / "rules", fs::copy_options::recursive);
  EXPECT_THAT(
      Run("rules new mine/x --for gpu -o rules"),
      HasSubstr("Next: edit the rule, build the program again, then `dladvisor rules test --filter x`"));
}

TEST_F(RulesCommand, DocumentsAreUpToDate) {
  WriteFile("none.yaml", "rules: {}\n");
  const std::string config = "--config '" + (folder_.path() / "none.yaml").string() + "'";
  const test::RunResult run =
      test::Run("cd '" + test::SourceDir().string() + "' && " + test::ProgramPath().string() + " " + config +
                " rules docs --check -o rules");
  EXPECT_EQ(run.status, 0) << run.err << "\n./dev docs writes them anew";
}

TEST_F(RulesCommand, SchemasKnowTheKeysOfTheReader) {
  Run("rules docs -o docs", 0);
  const auto schema = nlohmann::json::parse(test::ReadFile(folder_.path() / "docs/rule.schema.json"));
  for (const auto& [key, value] : schema["else"]["properties"].items()) {
    WriteFile("team/net/odd.yaml", key + ": []\n");
    EXPECT_THAT(Run("rules check", 3), Not(HasSubstr("has no key '" + key + "'"))) << key;
  }
  for (const auto& [key, value] : schema["then"]["properties"].items()) {
    if (key == "relation") continue;
    WriteFile("team/net/odd.yaml", "relation: odd\n" + key + ": []\n");
    EXPECT_THAT(Run("rules check", 3), Not(HasSubstr("has no key '" + key + "'"))) << key;
  }
}

TEST_F(RulesCommand, ExplainTellsWhyAndWhyNot) {
  const test::RunResult made = test::Run((test::ProgramPath().parent_path() / "megatron-gpt").string() +
                                         " naive -o '" + (folder_.path() / "run.sqlite").string() + "'");
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string fired = Run("explain slow run.sqlite");
  EXPECT_THAT(
      fired,
      HasSubstr("slow: Slow\nteam/net/slow.yaml:1, error (set in dladvisor.yaml:2), confidence medium"));
  EXPECT_THAT(
      fired,
      HasSubstr(
          "rank 0, device 0: fired\n  ✓ idle_share > :least  67.7 % > 25.0 %, 42.7 percentage points above"));
  EXPECT_THAT(fired, HasSubstr("least = 25.0 % (set in dladvisor.yaml:2). D."));
  EXPECT_THAT(Run("explain context-creation run.sqlite"),
              ContainsRegex("✗ step_source IS NULL +false\n      step_source optimizer steps"));
  EXPECT_THAT(Run("explain context-creation run.sqlite --steps none"),
              ContainsRegex("✗ step_source IS NULL +false\n      step_source none"));
  EXPECT_THAT(Run("explain slow run.sqlite --subject rank=1"), HasSubstr("No subject has rank=1."));
  EXPECT_THAT(Run("explain slow run.sqlite --subject rnk=1", 3), HasSubstr("(did you mean rank?)"));
  EXPECT_THAT(Run("explain slwo run.sqlite", 3), HasSubstr("rule slwo: is not there (did you mean slow?)"));
  EXPECT_THAT(
      Run("query run.sqlite \"SELECT rule, subject ->> 'device' AS device, outcome FROM finding WHERE rule = "
          "'slow'\" --format csv"),
      "rule,device,outcome\nslow,0,fired\n");
}

}  // namespace
}  // namespace dladvisor
