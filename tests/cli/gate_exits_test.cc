// SPDX-License-Identifier: Apache-2.0
// Gates that come to no verdict: every exit status, with what it writes and what it says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/gate/model/history.h"
#include "tests/cli/gate_fixture.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using test::Execute;
using test::Gate;
using testing::HasSubstr;

TEST_F(Gate, WithoutABaselineNothingPassesAndTheNextStepIsSaid) {
  const auto run = Run("gate --baseline none.digest same1");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("none.digest: there is no baseline yet"));
  EXPECT_THAT(run.err, HasSubstr("`dladvisor gate --baseline none.digest --update same1`"));
}

// Of an earlier gate nothing is left that may be taken for this one's.
TEST_F(Gate, EveryExitWritesEveryOutput) {
  test::WriteFile(Path("broken.yaml"), "gate: {metrics: {step.tim: off}}\n");
  test::WriteFile(Path("cut.json"), "{\"traceEvents\": [{\"ph\"");
  test::WriteFile(Path("no.history"), "no history");
  for (const char* name : {"newer.history", "cut.history"}) {
    HistoryRun earlier;
    earlier.setting = "8 x H200";
    AppendToHistory(Path(name), earlier);
  }
  Execute(Path("newer.history"), "UPDATE history SET value = '99'");
  fs::resize_file(Path("cut.history"), fs::file_size(Path("cut.history")) - 100);
  test::WriteFile(Path("strict.yaml"), "gate: {on_inconclusive: fail}\n");
  test::WriteFile(Path("slower.yaml"), "gate: {mode: report}\n");
  test::WriteFile(Path("broken.sqlite"), "SQLite format 3");
  fs::create_directories(Path("long"));
  test::WriteFile(Path("long/long-kernels.yaml"),
                  "id: long-kernels\ntitle: Kernels are long\nseverity: error\nfor: run\n"
                  "when: [(SELECT count(*) FROM kernel WHERE duration_ns > 1e12) > 0]\n"
                  "problem: Some kernels are long.\nrecommendation: [Split them.]\n");
  test::WriteFile(Path("unknown.yaml"), "rule_folders: [long]\ngate: {on_unknown: fail}\n");
  test::WriteFile(Path("unknown-warns.yaml"), "rule_folders: [long]\n");
  for (const auto& [name, until] :
       {std::pair("waived.yaml", "2999-01-01"), std::pair("expired.yaml", "2020-01-01")})
    test::WriteFile(
        Path(name),
        fmt::format("rules: {{slow-host: error}}\ngate: {{metrics: {{step.time: {{gated: false, reason: "
                    "known}}}}, waivers: [{{rule: slow-host, reason: known, until: {}}}]}}\n",
                    until));
  test::WriteFile(Path("budget.yaml"), "gate: {metrics: {step.time: {max: 1 ms}}}\n");
  test::WriteFile(Path("untold.yaml"), "gate: {metrics: {throughput: {min: 5}}}\n");
  test::WriteFile(Path("findings.yaml"),
                  "gate: {new_findings: error, metrics: {step.time: {gated: false, reason: known}}}\n");
  fs::copy_file(Path("base1/job_0_0.sqlite"), Path("brief.sqlite"), fs::copy_options::overwrite_existing);
  Execute(Path("brief.sqlite"),
          "DELETE FROM NVTX_EVENTS; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid > 10;"
          "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid > 10;");
  const struct {
    const char* arguments;
    int status;
    const char* says;
  } exits[] = {
      {"--baseline base same1 same2 same3", 0, "No regression"},
      {"--baseline base1 slow1", 0, "noise explains up to"},
      {"--baseline slow1 --baseline slow2 --baseline slow3 same1 same2 same3", 0, "improved by"},
      {"--config waived.yaml --baseline base slow1 slow2 slow3", 0, "waived until 2999-01-01: known"},
      {"--config expired.yaml --baseline base slow1 slow2 slow3", 1, "2020-01-01"},
      {"--config budget.yaml --baseline base same1 same2 same3", 1, "over the budget of"},
      {"--config unknown.yaml --baseline base same1 same2 same3", 1, "could not be evaluated"},
      {"--config unknown-warns.yaml --baseline base same1 same2 same3", 0, "could not be evaluated"},
      {"--config untold.yaml --baseline base same1 same2 same3", 2, "No run has it."},
      {"--config findings.yaml --baseline base slow1 slow2 slow3", 1, "slow-host"},
      {"--baseline base slow1 slow2 slow3", 1, "% worse"},
      {"--baseline base wide", 2, "cannot be compared"},
      {"--baseline none.digest same1", 2, "there is no baseline yet"},
      {"--baseline base cut.json", 3, "cut.json"},
      {"--baseline base none.sqlite", 3, "none.sqlite"},
      {"--config broken.yaml --baseline base same1", 3, "step.tim"},
      {"--baseline cut.json same1", 3, "cut.json"},
      {"--baseline base --history no.history same1", 3, "no.history"},
      {"--baseline base --history h.sqlite --merge-history no.history same1", 3, "no.history"},
      {"--baseline base --merge-history no.history same1", 3, "--merge-history"},
      {"--baseline base --label c1 same1", 3, "--label: is what a history calls the runs"},
      {"--baseline base --history newer.history same1", 3, "has history format 99"},
      {"--baseline base --history cut.history same1", 3, "its end is missing"},
      {"--baseline base --history . same1", 3, "cannot be read"},
      {"--baseline base --history no-folder/h.sqlite same1", 3, "cannot be opened or written"},
      {"--config strict.yaml --baseline base1 slow1", 1, "noise explains up to"},
      {"--config slower.yaml --baseline base slow1 slow2 slow3", 0, "nothing fails; "},
      {"--config slower.yaml --baseline base wide", 0, "nothing fails; "},
      {"--config slower.yaml --baseline base same1/job_0_0.sqlite broken.sqlite", 0, "nothing fails; "},
      {"--config slower.yaml --baseline none.digest same1", 2, "there is no baseline yet"},
      {"--baseline base same1/job_0_0.sqlite broken.sqlite", 2, "of the files cannot be read"},
      {"--baseline brief.sqlite brief.sqlite", 2, "cannot be compared"},
      {"--rules no-rules --baseline base same1", 3, "no-rules"},
      {"--steps x --baseline base same1", 3, "is not a range of steps"},
  };
  for (const auto& exit : exits) {
    SCOPED_TRACE(exit.arguments);
    for (const char* ending : {"json", "xml", "sarif", "md", "html"})
      test::WriteFile(Path(std::string("exit.") + ending), "of an earlier gate");
    const auto run = Run(std::string("gate ") + exit.arguments +
                         " --json exit.json --junit exit.xml --sarif exit.sarif --markdown exit.md --html "
                         "exit.html --annotations");
    EXPECT_EQ(run.status, exit.status) << run.out << run.err;
    for (const char* ending : {"json", "xml", "sarif", "md", "html"}) {
      const std::string text = test::ReadFile(Path(std::string("exit.") + ending));
      EXPECT_EQ(text.find("of an earlier gate"), std::string::npos) << ending;
      // What is as good or better is in no list of what is wrong.
      const bool is_good =
          std::string_view(exit.says) == "No regression" || exit.says == std::string_view("improved by");
      if (!is_good || std::string_view(ending) == "md" || std::string_view(ending) == "json") {
        EXPECT_NE(text.find(exit.says), std::string::npos) << ending << " lacks " << exit.says;
      }
    }
    EXPECT_EQ(nlohmann::json::parse(test::ReadFile(Path("exit.json")))["exit_status"], exit.status);
    const auto log = nlohmann::json::parse(test::ReadFile(Path("exit.sarif")))["runs"][0];
    const auto sarif = log["invocations"][0];
    // What was not compared closes no alerts, be it reported alone.
    const bool is_compared =
        nlohmann::json::parse(test::ReadFile(Path("exit.json")))["verdict"] != "not comparable";
    EXPECT_EQ(sarif["executionSuccessful"], is_compared);
    EXPECT_EQ(sarif["exitCode"], exit.status);
    const std::string junit = test::ReadFile(Path("exit.xml"));
    if (exit.status > 0) {
      EXPECT_THAT(run.out, HasSubstr("::error "));
    } else {
      EXPECT_THAT(run.out, Not(HasSubstr("::error ")));
      EXPECT_THAT(junit, Not(HasSubstr("<failure")));
      EXPECT_THAT(junit, Not(HasSubstr("<error")));
      for (const auto& list : {log["results"], sarif.value("toolExecutionNotifications", nlohmann::json())})
        for (const auto& entry : list) EXPECT_NE(entry["level"], "error") << entry;
    }
  }
}

// As Git's merge driver: histories become one, and nothing is judged.
TEST_F(Gate, WithoutProfilesHistoriesAreMergedAlone) {
  for (const char* file : {"ours.sqlite", "theirs.sqlite"}) {
    HistoryRun run;
    run.label = file;
    AppendToHistory(Path(file), run);
  }
  const auto merged = Run("gate --history ours.sqlite --merge-history theirs.sqlite");
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(merged.out, "ours.sqlite: 1 run added, 2 in all\n");
  EXPECT_EQ(ReadHistory(Path("ours.sqlite")).size(), 2U);
  EXPECT_EQ(ReadHistory(Path("theirs.sqlite")).size(), 1U);
  // Anything that a gate alone can do needs what a gate needs.
  for (const char* arguments :
       {"--history ours.sqlite --merge-history theirs.sqlite --json o.json", "--history ours.sqlite same1",
        "--merge-history theirs.sqlite", "--history ours.sqlite", "", "--update same1"}) {
    const auto refused = Run(std::string("gate ") + arguments);
    EXPECT_EQ(refused.status, 3) << arguments;
    EXPECT_THAT(refused.err, HasSubstr("--baseline is required")) << arguments;
  }
  EXPECT_THAT(Run("gate --baseline base").err, HasSubstr("PROFILE is required"));
}

TEST_F(Gate, OtherHardwareIsNotComparable) {
  const auto run = Run("gate --baseline base wide");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.out, HasSubstr("GPUs (baseline: 2; candidate: 4)"));
  EXPECT_THAT(run.out, HasSubstr("What Changed"));
  test::WriteFile(Path("allow.yaml"), "gate: {allow: [gpu.count, world_size]}\n");
  EXPECT_NE(Run("gate --config allow.yaml --baseline base wide").status, 2);
}

TEST_F(Gate, WithoutStepsNothingPasses) {
  fs::create_directories(Path("brief"));
  fs::copy_file(Path("base1/job_0_0.sqlite"), Path("brief/a.sqlite"), fs::copy_options::overwrite_existing);
  Execute(Path("brief/a.sqlite"),
          "DELETE FROM NVTX_EVENTS; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid > 10;"
          "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid > 10;");
  const auto run = Run("gate --baseline brief/a.sqlite brief/a.sqlite");
  EXPECT_EQ(run.status, 2) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("--step-range"));
  const auto update = Run("gate --baseline brief.digest --update brief/a.sqlite");
  EXPECT_EQ(update.status, 2);
  EXPECT_FALSE(fs::exists(Path("brief.digest")));
}

TEST_F(Gate, ADamagedBaselineIsSaid) {
  fs::copy_file(Path("base/run-1.digest"), Path("cut.digest"), fs::copy_options::overwrite_existing);
  fs::resize_file(Path("cut.digest"), fs::file_size(Path("cut.digest")) / 2);
  test::WriteFile(Path("text.digest"), "no digest");
  for (const std::string name : {"cut.digest", "text.digest"}) {
    const auto run = Run("gate --baseline " + name + " same1");
    EXPECT_EQ(run.status, 3) << name;
    EXPECT_THAT(run.err, HasSubstr(name));
  }
}

TEST_F(Gate, ABaselineOfANewerVersionIsSaid) {
  fs::copy_file(Path("base/run-1.digest"), Path("newer.digest"), fs::copy_options::overwrite_existing);
  Execute(Path("newer.digest"), "UPDATE digest SET value = '999' WHERE key = 'format_version'");
  const auto run = Run("gate --baseline newer.digest same1");
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("999"));
}

TEST_F(Gate, SomeUnreadableRunsAreNoPass) {
  test::WriteFile(Path("broken.sqlite"), "SQLite format 3");
  const auto run = Run("gate --baseline base same1/job_0_0.sqlite broken.sqlite");
  EXPECT_EQ(run.status, 2) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("broken.sqlite"));
  EXPECT_THAT(run.out, HasSubstr("not a SQLite database; give a file"));
  EXPECT_EQ(Run("gate --baseline base broken.sqlite").status, 3);
}

TEST_F(Gate, BadUsageAndAPolicyThatIsNotUnderstoodAreRefused) {
  EXPECT_EQ(Run("gate same1").status, 3);
  EXPECT_EQ(Run("gate --baseline base").status, 3);
  for (const char* unset : {"--baseline ''", "--baseline base --junit ''", "--baseline base --history ''",
                            "--baseline base --config ''", "--baseline base --rules ''"}) {
    const auto run = Run(std::string("gate same1 ") + unset);
    EXPECT_EQ(run.status, 3) << unset;
    EXPECT_THAT(run.err, HasSubstr("no file is named")) << unset;
  }
  test::WriteFile(Path("typo.yaml"), "gate: {metrics: {step.tme: {max: 1 s}}}\n");
  const auto run = Run("gate --config typo.yaml --baseline base same1");
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("typo.yaml:1:18"));
  EXPECT_THAT(run.err, HasSubstr("did you mean step.time?"));
}

}  // namespace
}  // namespace dladvisor
