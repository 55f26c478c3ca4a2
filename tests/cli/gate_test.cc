// SPDX-License-Identifier: Apache-2.0
// The gate as a build runs it: its verdicts, what it writes, and what it says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/gate/model/history.h"
#include "tests/cli/gate_fixture.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using test::Gate;
using test::WriteRun;
using testing::HasSubstr;

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

TEST_F(Gate, AnOptionWithoutItsValueTakesNoOther) {
  EXPECT_NE(Run("gate --baseline= base same1").err.find("--baseline= names nothing; an unset variable"),
            std::string::npos);
  EXPECT_NE(Run("gate --baseline base same1 -o gate.html").err.find("-o is not an option: --junit, --sarif"),
            std::string::npos);
  EXPECT_NE(Run("gate --baseline new --update same1 --label c1").err.find("--label would not be written"),
            std::string::npos);
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

// Of digests a gate reads no more than it needs.
TEST_F(Gate, RulesReadOfDigestsWhatReportsAloneDraw) {
  fs::create_directories(Path("drawn"));
  test::WriteFile(Path("drawn/kernel-names.yaml"),
                  "id: kernel-names\ntitle: Kernels have names\nfor: run\n"
                  "let: {names: \"(SELECT count(*) FROM name_step)\"}\nwhen: [names > 0]\n"
                  "problem: \"{{names}} names.\"\nrecommendation: [Count them.]\n");
  test::WriteFile(Path("drawn.yaml"),
                  "rule_folders: [drawn]\nrules: {kernel-names: error}\ngate: {metrics: {step.time: off}}\n");
  const auto run = Run("gate --config drawn.yaml --baseline base same1 same2 same3");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("(kernel-names)"));
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
