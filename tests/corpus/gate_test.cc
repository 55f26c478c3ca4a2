// SPDX-License-Identifier: Apache-2.0
// The gate on real profiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "src/cli/session.h"
#include "src/fleet/digest_writer.h"
#include "src/fleet/runs.h"
#include "src/gate/judge/judge.h"
#include "src/gate/judge/rule_verdict.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;

GateRun Load(const std::filesystem::path& path, const AnalysisOptions& options = {}) {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  GateRun run;
  LoadRuns({path.string()}, options, [&](const std::string& name, Profile profile) {
    Database database = profile.OpenDatabase();
    run = SummarizeRun(name, knowledge, database, profile.MissingRelations());
  });
  return run;
}

GateResult Judge(const GateRun& baseline, const GateRun& candidate, const GatePolicy& policy = {}) {
  return JudgeRuns(ToSides({baseline}, {candidate}), EmptyKnowledge(), policy, {});
}

// Of runs of unlike days nothing is known but what is declared.
GatePolicy RunsDifferByTenPercent() {
  GatePolicy policy;
  policy.metrics[0].run_to_run = 0.10;
  return policy;
}

// ResNet-50 with four workers and without, as the TensorBoard plugin's samples have it three times.
class ResNet50 : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  void SetUp() override {
    for (const char* file : {GetParam().first, GetParam().second}) {
      const auto path = test::DataDir() / "kineto/pytorch_kineto" / file;
      if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
      runs_.push_back(Load(path));
    }
  }
  std::vector<GateRun> runs_;  // with four workers, without
};

TEST_P(ResNet50, WithoutWorkersItRegressesAndTheLoaderIsNamed) {
  const GateResult result = Judge(runs_[0], runs_[1], RunsDifferByTenPercent());
  EXPECT_EQ(result.verdict, Verdict::kRegressed);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.headline, HasSubstr("idle/input takes"));
  EXPECT_THAT(result.headline, HasSubstr("new finding: Data is loaded in the training process"));
  EXPECT_THAT(result.next_step, HasSubstr("num_workers"));
}

TEST_P(ResNet50, WithWorkersItImproves) {
  const GateResult result = Judge(runs_[1], runs_[0], RunsDifferByTenPercent());
  EXPECT_EQ(result.verdict, Verdict::kImproved);
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.headline, HasSubstr("gone: Data is loaded in the training process"));
}

TEST_P(ResNet50, TheSameFilePasses) {
  for (const GateRun& run : runs_) EXPECT_EQ(Judge(run, run).verdict, Verdict::kPass);
}

INSTANTIATE_TEST_SUITE_P(
    , ResNet50,
    testing::Values(
        std::pair("plugin__samples__resnet50_num_workers_4__worker0.pt.trace--7bd25bd0.json.gz",
                  "plugin__samples__resnet50_num_workers_0__worker0.pt.trace--2d19c634.json.gz"),
        std::pair(
            "tb_plugin__samples__resnet50_num_workers_4__worker0.1623212756351.pt.trace--234cf25d.json.gz",
            "tb_plugin__samples__resnet50_num_workers_0__worker0.1623143089861.pt.trace--769c3eb7.json.gz"),
        std::pair("tb_plugin__samples__resnet50_num_workers_4__worker0.pt.trace--29dba67d.json.gz",
                  "tb_plugin__samples__resnet50_num_workers_0__worker0.pt.trace--d3fb4076.json.gz")),
    [](const auto& pair) { return std::to_string(pair.index); });

// Every real profile against itself passes, or is not comparable for want of steps.
TEST(GateOnRealProfiles, NoProfileRegressesAgainstItself) {
  size_t compared = 0;
  for (const char* const folder : {"nsys_sqlite", "kineto"})
    for (const auto& path : test::DataFiles(folder, folder[0] == 'n' ? ".sqlite" : ".gz")) {
      if (std::filesystem::file_size(path) > 4'000'000) continue;
      try {
        const GateRun run = Load(path);
        const GateResult result = Judge(run, run);
        EXPECT_NE(result.exit_status, 1) << path << ": " << result.headline;
        EXPECT_EQ(result.exit_status == 0, run.Find("step.time") != nullptr)
            << path << ": " << result.headline;
        ++compared;
      } catch (const Error&) {  // files that no command can read are importers' tests
      }
    }
  if (compared == 0) GTEST_SKIP() << "no real profiles";
}

// A digest has no events; a rule that reads them is unknown on it, and its finding not new.
TEST(GateOnRealProfiles, AProfileHasNoNewFindingAgainstItsOwnDigest) {
  KnowledgeBase knowledge = LoadRules({}, {});
  knowledge.AddLayer(std::vector<RuleFile>{{"team/any-kernel.yaml",
                                            "id: any-kernel\ntitle: T\nfor: run\nwhen: [(SELECT count(*) "
                                            "FROM kernel WHERE rank IS NOT NULL) > 0]\n"
                                            "problem: \"{{gpus}} GPUs\"\nrecommendation: R\n"},
                                           {"team/any-overlap.yaml",
                                            "id: any-overlap\ntitle: T\nfor: temporal_breakdown\nwhen: "
                                            "[1]\nproblem: \"{{rank}}\"\nrecommendation: "
                                            "R\n"},
                                           {"team/any-name.yaml",
                                            "id: any-name\ntitle: T\nfor: name_step\nwhen: [calls > "
                                            "0]\nproblem: \"{{name}}\"\nrecommendation: R\n"}});
  constexpr size_t kEach = 6;
  size_t compared = 0;
  for (const char* const folder : {"nsys_sqlite", "kineto"}) {
    size_t of_folder = 0;
    for (const auto& path : test::DataFiles(folder, folder[0] == 'n' ? ".sqlite" : ".gz")) {
      if (std::filesystem::file_size(path) > 2'000'000 || of_folder == kEach) continue;
      try {
        Profile profile = LoadProfile(path, {});
        const test::ScratchDir scratch;
        WriteDigest(profile.digest, scratch.path() / "own.digest");
        const Profile digest = LoadProfile(scratch.path() / "own.digest", {});
        Database of_profile = profile.OpenDatabase(), of_digest = digest.OpenDatabase();
        const GateRun candidate = SummarizeRun("profile", knowledge, of_profile, profile.MissingRelations());
        const GateRun baseline = SummarizeRun("digest", knowledge, of_digest, digest.MissingRelations());
        for (const RuleVerdict& rule : JudgeRules({&baseline, 1}, {&candidate, 1}, knowledge, {})) {
          EXPECT_NE(rule.change, RuleVerdict::Change::kNew) << path << " " << rule.rule;
          EXPECT_NE(rule.change, RuleVerdict::Change::kGone) << path << " " << rule.rule;
        }
        ++compared, ++of_folder;
      } catch (const Error&) {  // files that no command can read are importers' tests
      }
    }
  }
  if (compared == 0) GTEST_SKIP() << "no real profiles";
}

}  // namespace
}  // namespace dladvisor
