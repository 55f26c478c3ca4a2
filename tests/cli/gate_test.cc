// SPDX-License-Identifier: Apache-2.0
// The gate as a build runs it: every exit status, what it writes, and what it says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "examples/data-parallel/exports.h"
#include "src/gate/model/history.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

// A run of the program number 1 on `gpus` GPUs; of `share` > 0 with a host that launches late.
void WriteRun(const fs::path& folder, uint64_t seed, double share = 0, int gpus = 2) {
  example::JobOptions options;
  options.nodes = 1;
  options.gpus_per_node = gpus;
  options.steps = 24;
  options.kernels = 60;
  options.seed = seed;
  options.program = 1;
  if (share > 0) {
    example::Plant plant;
    plant.cause = example::Cause::kLaunches;
    plant.rank = 1;
    plant.last_step = options.steps - 1;
    plant.share = share;
    plant.first_kernel = 7;
    plant.last_kernel = 33;
    options.plants = {plant};
  }
  example::WriteJob(example::Job(options), folder, example::DefaultNsysSchema());
}

void Execute(const fs::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

class Gate : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<test::ScratchDir>();
    for (int run = 1; run <= 3; ++run) {
      WriteRun(Path("base" + std::to_string(run)), run);
      WriteRun(Path("same" + std::to_string(run)), 10 + run);
      WriteRun(Path("slow" + std::to_string(run)), 20 + run, 0.3);
    }
    WriteRun(Path("wide"), 1, 0, 4);
    EXPECT_EQ(Run("gate --baseline base --update base1 base2 base3").status, 0);
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static fs::path Path(const std::string& name) { return scratch_->path() / name; }

  static test::RunResult Run(const std::string& arguments) {
    return test::Run("cd '" + scratch_->path().string() + "' && '" + test::ProgramPath().string() + "' " +
                     arguments);
  }

  static std::unique_ptr<test::ScratchDir> scratch_;
};
std::unique_ptr<test::ScratchDir> Gate::scratch_;

TEST_F(Gate, AnotherRunOfTheSameProgramPasses) {
  const auto run = Run("gate --baseline base same1 same2 same3");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("Gate passed: No regression."));
  EXPECT_EQ(run.err, "");
}

TEST_F(Gate, ASlowerProgramFailsAndItsCauseIsNamed) {
  const auto run = Run("gate --baseline base slow1 slow2 slow3");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("Gate failed: Step time regressed by"));
  EXPECT_THAT(run.out, HasSubstr("slow-host"));
  EXPECT_THAT(run.out, HasSubstr("What Changed"));
}

TEST_F(Gate, AFasterProgramImproves) {
  const auto run = Run("gate --baseline slow1 --baseline slow2 --baseline slow3 same1 same2 same3");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("improved by"));
  EXPECT_THAT(run.out, HasSubstr("--update"));
}

TEST_F(Gate, ThreeRunsAreThreeRunsAndAFolderIsTheRanksOfOne) {
  const auto run = Run("gate --baseline base same1 same2 same3 --json counts.json");
  const auto json = nlohmann::json::parse(test::ReadFile(Path("counts.json")));
  EXPECT_EQ(json["baseline"]["runs"].size(), 3u);
  EXPECT_EQ(json["baseline"]["ranks"], 2);
  EXPECT_EQ(json["candidate"]["runs"], nlohmann::json({"same1", "same2", "same3"}));
}

TEST_F(Gate, OneRecordingGivenThriceIsOneRun) {
  for (const char* copy : {"copy1", "copy2", "copy3"})
    fs::copy(Path("slow1"), Path(copy), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const auto run = Run("gate --baseline base1 copy1 copy2 copy3");
  EXPECT_THAT(run.out, HasSubstr("copy2 is the same recording as copy1, and both count as one run."));
  EXPECT_THAT(run.out, HasSubstr("inconclusive"));
  EXPECT_THAT(Run("gate --baseline base1 same1 ./same1 same1").out,
              HasSubstr("./same1 is given several times, and counts as one run."));
}

// More than are open at a time.
TEST_F(Gate, ManyDigestsAreJudgedAsFewAre) {
  fs::create_directories(Path("crowd"));
  for (int i = 0; i < 18; ++i)
    fs::copy_file(Path(fmt::format("base/run-{}.digest", 1 + i % 3)),
                  Path(fmt::format("crowd/{:02}.digest", i)), fs::copy_options::overwrite_existing);
  const auto judged = [](const std::string& baseline) {
    EXPECT_EQ(Run("gate --baseline " + baseline + " slow1 slow2 slow3 --json judged.json").status, 1);
    return nlohmann::json::parse(test::ReadFile(Path("judged.json")));
  };
  const nlohmann::json few = judged("base"), many = judged("crowd");
  EXPECT_EQ(many["baseline"]["runs"].size(), 3U);
  EXPECT_FALSE(many["changes"].empty());
  for (const char* key : {"headline", "metrics", "changes", "rules"}) EXPECT_EQ(many[key], few[key]) << key;
}

TEST_F(Gate, UpdateCountsAllRunsOfTheFolder) {
  fs::create_directories(Path("shared"));
  fs::copy_file(Path("base/run-1.digest"), Path("shared/kept.digest"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(Run("gate --baseline shared --update base2").out,
            "shared: the baseline is 2 runs, 1 of them digests that were there before\n");
}

TEST_F(Gate, UpdateRefusesWhatItWouldNotDo) {
  fs::create_directories(Path("mixed"));
  fs::copy(Path("base1"), Path("mixed"), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const auto mixed = Run("gate --baseline mixed --update base2");
  EXPECT_EQ(mixed.status, 3);
  EXPECT_THAT(mixed.err,
              HasSubstr("mixed: holds profiles, which would be compared as runs of the baseline: mixed/"));
  const auto outputs = Run("gate --baseline new.digest --update base2 --html u.html --json u.json");
  EXPECT_EQ(outputs.status, 3);
  EXPECT_THAT(outputs.err,
              HasSubstr("--update: compares nothing, so that --html, --json would not be written"));
  EXPECT_FALSE(fs::exists(Path("new.digest")));
}

TEST_F(Gate, InconclusiveIsAWarningUnlessTheProjectSaysOtherwise) {
  const auto run = Run("gate --baseline base1 slow1");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("inconclusive"));
  test::WriteFile(Path("strict.yaml"), "gate: {on_inconclusive: fail}\n");
  EXPECT_EQ(Run("gate --config strict.yaml --baseline base1 slow1").status, 1);
  test::WriteFile(Path("declared.yaml"), "gate: {metrics: {step.time: {run_to_run: 3 %}}}\n");
  EXPECT_EQ(Run("gate --config declared.yaml --baseline base1 slow1").status, 1);
}

TEST_F(Gate, ARuleThatTheTeamMadeAnErrorFails) {
  test::WriteFile(Path("error.yaml"), "rules: {slow-host: error}\n");
  EXPECT_EQ(Run("gate --config error.yaml --baseline base same1 same2 same3").status, 0);
  const auto run = Run("gate --config error.yaml --baseline slow1 slow1");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("slow-host"));
}

TEST_F(Gate, RulesReadTheBaselineAndTheHistory) {
  fs::create_directories(Path("before"));
  test::WriteFile(Path("before/slower.yaml"),
                  "id: slower\ntitle: Slower\nseverity: error\nfor: run\nlet:\n"
                  "  now_ns: {sql: (SELECT avg(duration_ns) FROM step WHERE NOT warmup), unit: ns}\n"
                  "  before_ns: {sql: (SELECT step_ns FROM baseline), unit: ns}\n"
                  "when: [now_ns > 1.1 * before_ns]\nproblem: \"{{now_ns}} after {{before_ns}}\"\n"
                  "recommendation: [R]\n");
  EXPECT_EQ(Run("gate --rules before --baseline base same1 same2 same3").status, 0);
  const auto slow = Run("gate --rules before --baseline base slow1 slow2 slow3 --json before.json");
  EXPECT_EQ(slow.status, 1);
  EXPECT_THAT(test::ReadFile(Path("before.json")), HasSubstr("\"rule\": \"slower\""));
  const auto digests = Run("gate --rules before --baseline base1 base/run-2.digest");
  EXPECT_EQ(digests.out.find("slower"), std::string::npos) << digests.out;
  EXPECT_THAT(Run("explain slower same1 --rules before").out,
              HasSubstr("it reads baseline, which a gate alone has"));
  test::WriteFile(
      Path("before/slower.yaml"),
      "id: slower\ntitle: Slower\nseverity: error\nfor: run\n"
      "when: [(SELECT count(*) FROM history WHERE label = 'c1' AND age = 1 AND step_ns > 0) = 1]\n"
      "problem: \"{{ranks}} ranks\"\nrecommendation: [R]\n");
  fs::remove(Path("before.history"));
  const std::string gate = "gate --rules before --baseline base --history before.history ";
  EXPECT_EQ(Run(gate + "same1 --label c1").status, 0);
  EXPECT_EQ(Run(gate + "same1 --label c1").status, 0);  // the same recording is no earlier run
  EXPECT_EQ(Run(gate + "same2 --label c2").status, 1);
}

TEST_F(Gate, AnErrorThatIsNotEvaluatedIsSaidInEveryOutputAndMayFail) {
  fs::create_directories(Path("team"));
  test::WriteFile(Path("team/long-kernels.yaml"),
                  "id: long-kernels\ntitle: Kernels are long\nseverity: error\nfor: run\n"
                  "when: [(SELECT count(*) FROM kernel WHERE duration_ns > 1e12) > 0]\n"
                  "problem: Some kernels are long.\nrecommendation: [Split them.]\n");
  const std::string outputs =
      " --json u.json --junit u.xml --sarif u.sarif --markdown u.md --html u.html --annotations";
  const auto run = Run("gate --rules team --baseline base same1 same2 same3" + outputs);
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("it reads kernel, which one profile alone has"));
  EXPECT_THAT(run.out, HasSubstr("::warning "));
  for (const char* file : {"u.json", "u.xml", "u.sarif", "u.md", "u.html"})
    EXPECT_THAT(test::ReadFile(Path(file)), HasSubstr("could not be evaluated")) << file;
  test::WriteFile(Path("unknown.yaml"), "rule_folders: [team]\ngate: {on_unknown: fail}\n");
  const auto failed = Run("gate --config unknown.yaml --baseline base same1 same2 same3");
  EXPECT_EQ(failed.status, 1) << failed.out << failed.err;
  EXPECT_THAT(failed.out, HasSubstr("Gate failed: Kernels are long (long-kernels)"));
  EXPECT_THAT(Run("explain long-kernels same1 --rules team").out,
              HasSubstr("missing: it reads kernel, which one profile alone has"));
}

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

TEST_F(Gate, OtherHardwareIsNotComparable) {
  const auto run = Run("gate --baseline base wide");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.out, HasSubstr("GPUs (2 and 4)"));
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
  fs::copy_file(Path("base/run-1.digest"), Path("new.digest"), fs::copy_options::overwrite_existing);
  Execute(Path("new.digest"), "UPDATE digest SET value = '999' WHERE key = 'format_version'");
  const auto run = Run("gate --baseline new.digest same1");
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

TEST_F(Gate, WritesEveryOutputWhole) {
  const auto run = Run(
      "gate --baseline base slow1 slow2 slow3 --junit o.xml --sarif o.sarif --markdown o.md --html o.html "
      "--json o.json --annotations");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("::error "));
  EXPECT_THAT(test::ReadFile(Path("o.xml")), HasSubstr("<failure"));
  EXPECT_EQ(nlohmann::json::parse(test::ReadFile(Path("o.sarif")))["version"], "2.1.0");
  EXPECT_THAT(test::ReadFile(Path("o.md")), HasSubstr("Step time"));

  EXPECT_THAT(test::ReadFile(Path("o.html")), HasSubstr("</html>"));
  EXPECT_EQ(nlohmann::json::parse(test::ReadFile(Path("o.json")))["exit_status"], 1);
  const auto unwritable = Run("gate --baseline base same1 --json no/such/folder.json");
  EXPECT_EQ(unwritable.status, 3);
}

TEST_F(Gate, OutputsOverInputsOrEachOtherAreRefused) {
  const std::string before = test::ReadFile(Path("base/run-1.digest"));
  const auto expect = [](const std::string& arguments, const std::string& reason) {
    const auto run = Run("gate --baseline base same1 " + arguments);
    EXPECT_EQ(run.status, 3) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_THAT(run.err, HasSubstr(reason));
  };
  expect("--json base/run-1.digest", "base/run-1.digest: is the baseline itself");
  expect("--html same1/job_0_0.sqlite", "is the profile itself");
  expect("--junit two.xml --sarif ./two.xml",
         "./two.xml: is also what --junit writes\n  Choose another file for --sarif.");
  EXPECT_EQ(test::ReadFile(Path("base/run-1.digest")), before);
  EXPECT_FALSE(fs::exists(Path("two.xml")));
  EXPECT_EQ(Run("gate --baseline base same1 --json /dev/null --html /dev/null").status, 0);
}

TEST_F(Gate, TheHistoryGrowsAndTellsTheNoise) {
  fs::remove(Path("history.sqlite"));
  for (int run = 0; run < 10; ++run) {
    const std::string name = "history" + std::to_string(run);
    WriteRun(Path(name), 100 + static_cast<uint64_t>(run));
    EXPECT_EQ(
        Run("gate --baseline base1 --history history.sqlite --label c" + std::to_string(run) + " " + name)
            .status,
        0);
  }
  const auto slow = Run("gate --baseline base1 --history history.sqlite slow1");
  EXPECT_EQ(slow.status, 1) << slow.out;
  EXPECT_THAT(slow.out, HasSubstr("10 runs"));
  test::WriteFile(Path("broken.history"), "no history");
  const auto broken = Run("gate --baseline base1 --history broken.history same1");
  EXPECT_EQ(broken.status, 3);
  EXPECT_EQ(test::ReadFile(Path("broken.history")), "no history");
}

TEST_F(Gate, ARecordingThatIsGatedAgainIsNoNewRunOfTheHistory) {
  fs::remove(Path("again.sqlite"));
  const std::string gate = "gate --baseline base --history again.sqlite --label ";
  EXPECT_EQ(Run(gate + "c1 same1").status, 0);
  const auto again = Run(gate + "c2 same1");
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.out, HasSubstr("The history has this recording already"));
  EXPECT_EQ(ReadHistory(Path("again.sqlite")).size(), 1U);
  // As its digest, too.
  EXPECT_EQ(Run("digest same1 -o same1.digest").status, 0);
  EXPECT_EQ(Run(gate + "c2 same1.digest").status, 0);
  EXPECT_EQ(Run(gate + "c2 same1 same2").status, 0);
  const auto runs = ReadHistory(Path("again.sqlite"));
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].label, "c1");
  EXPECT_EQ(runs[1].label, "c2");
}

TEST_F(Gate, UpdateWritesAFileForOneRunAndAFolderForSeveral) {
  EXPECT_EQ(Run("gate --baseline one.digest --update same1").status, 0);
  EXPECT_TRUE(fs::is_regular_file(Path("one.digest")));
  EXPECT_EQ(Run("gate --baseline one.digest same1").status, 0);
  EXPECT_EQ(Run("gate --baseline one.digest --update same1 same2").status, 3);
  EXPECT_EQ(Run("gate --baseline many --update same1 same2").status, 0);
  EXPECT_EQ(Run("gate --baseline many --update same1").status, 0);  // the second of before is gone
  EXPECT_TRUE(fs::exists(Path("many/run-1.digest")));
  EXPECT_FALSE(fs::exists(Path("many/run-2.digest")));
}

TEST_F(Gate, UpdateTakesNothingThatIsNotItsOwn) {
  test::WriteFile(Path("notes.txt"), "precious");
  EXPECT_EQ(Run("gate --baseline notes.txt --update same1").status, 3);
  EXPECT_EQ(test::ReadFile(Path("notes.txt")), "precious");
  fs::create_directories(Path("shelf"));
  fs::copy_file(Path("base/run-1.digest"), Path("shelf/keep.digest"));
  EXPECT_EQ(Run("gate --baseline shelf --update same1").status, 0);
  EXPECT_TRUE(fs::exists(Path("shelf/keep.digest")));
}

TEST_F(Gate, AnEmptyFolderIsNoBaseline) {
  fs::create_directories(Path("empty"));
  EXPECT_EQ(Run("gate --baseline empty same1").status, 2);
}

TEST_F(Gate, TheVerdictIsSaidAlsoWhereAnOutputCannotBeWritten) {
  const auto run = Run("gate --baseline base same1 same2 same3 --json no/such/folder.json");
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.out, HasSubstr("Gate passed"));
}

}  // namespace
}  // namespace dladvisor
