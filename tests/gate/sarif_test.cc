// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/sarif.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/gate/fixture.h"
#include "tests/support/files.h"
#include "tests/support/json_schema.h"

namespace dladvisor::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

json RunOf(const GateResult& result, std::string_view root = "") {
  const json log = json::parse(RenderGateSarif(result, root));
  EXPECT_EQ(log["version"], "2.1.0");
  EXPECT_EQ(log["runs"].size(), 1U);
  return log["runs"][0];
}

std::string UriOf(const json& result) {
  return result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
}

std::filesystem::path SchemaPath() {
  if (const char* path = std::getenv("DLADVISOR_SARIF_SCHEMA")) return path;
  return SourceDir() / "build/schemas/sarif-2.1.0.json";
}

TEST(Sarif, KeepsToTheSchema) {
  if (PythonWithJsonschema().empty()) GTEST_SKIP() << "python3-jsonschema is not installed";
  if (!std::filesystem::exists(SchemaPath())) GTEST_SKIP() << "no schema of SARIF at " << SchemaPath();
  const ScratchDir scratch;
  size_t files = 0;
  for (const GateResult& result : {RegressedGate(), PassedGate(), ImprovedGate(), InconclusiveGate(),
                                   NotComparableGate(), HostileGate(), GateResult()})
    WriteFile(scratch.path() / fmt::format("{}.sarif", files++), RenderGateSarif(result));
  EXPECT_EQ(SchemaErrors(SchemaPath(), scratch.path(), ".sarif"), "");
}

TEST(Sarif, NamesTheToolAndItsRules) {
  const json driver = RunOf(RegressedGate())["tool"]["driver"];
  EXPECT_EQ(driver["name"], "dladvisor");
  EXPECT_EQ(driver["version"], "0.1.0");
  EXPECT_FALSE(driver.contains("informationUri"));
  std::vector<std::string> ids;
  for (const json& rule : driver["rules"]) {
    ids.push_back(rule["id"]);
    for (const char* key : {"shortDescription", "fullDescription", "help", "defaultConfiguration"})
      EXPECT_TRUE(rule.contains(key)) << rule["id"] << key;
  }
  EXPECT_THAT(ids, ElementsAre("gate/step.time", "gate/memory.peak", "gate/gpu.utilization",
                               "gate/trend/step.time", "data-loading", "mixed-precision-off"));
  EXPECT_THAT(driver["rules"][4]["help"]["markdown"], HasSubstr("<code>pin\\_memory=True</code>"));
}

TEST(Sarif, HasAResultForEachFindingOfTheCandidateAndWhatRegressed) {
  const json results = RunOf(RegressedGate())["results"];
  ASSERT_EQ(results.size(), 6U);
  EXPECT_EQ(results[0]["level"], "error");
  EXPECT_THAT(results[0]["message"]["text"], StartsWith("The step takes 37.9 ms longer"));
  EXPECT_EQ(results[1]["level"], "warning");
  EXPECT_EQ(results[4]["ruleId"], "data-loading");
  EXPECT_EQ(results[4]["ruleIndex"], 4);
  EXPECT_EQ(results[4]["level"], "error");
  EXPECT_EQ(results[4]["baselineState"], "new");
  EXPECT_EQ(results[5]["baselineState"], "unchanged");
}

TEST(Sarif, FindingsOfOneIdentityAreOneResultOfTheWorstLevel) {
  GateResult result = RegressedGate();
  const size_t results = RunOf(result)["results"].size();
  RuleVerdict other = result.rules[0];
  other.subjects = {R"({"rank":7,"device":1})"};
  other.problem = "Rank 7 does, too.";
  other.verdict = Verdict::kPass;
  other.level = Level::kExplain;
  other.change = RuleVerdict::Change::kStill;
  result.rules.push_back(other);
  const json run = RunOf(result);
  ASSERT_EQ(run["results"].size(), results);
  EXPECT_EQ(run["results"][4]["level"], "error");
  EXPECT_EQ(run["results"][4]["baselineState"], "new");
  EXPECT_THAT(run["results"][4]["message"]["text"], HasSubstr("Rank 7 does, too."));
}

TEST(Sarif, IsEmptyWhereTheGatePassed) {
  const json run = RunOf(PassedGate());
  ASSERT_EQ(run["results"].size(), 1U);  // what is found on both sides and only explains
  EXPECT_EQ(run["results"][0]["level"], "note");
}

TEST(Sarif, LocatesFindingsInTheProgramElseInTheRule) {
  const json results = RunOf(RegressedGate())["results"];
  EXPECT_EQ(UriOf(results[0]), "dladvisor.yaml");
  EXPECT_EQ(UriOf(results[4]), "training/data.py");
  EXPECT_EQ(results[4]["locations"][0]["physicalLocation"]["region"]["startLine"], 87);
  EXPECT_EQ(UriOf(results[5]), "rules/tensor-cores/mixed-precision-off.yaml");
}

TEST(Sarif, HasNoAbsolutePath) {
  GateResult result = RegressedGate();
  RuleVerdict& rule = result.rules[0];
  const auto uri = [&](const std::string& source, const std::string& file) {
    rule.source_file = source;
    rule.rule_file = file;
    return UriOf(RunOf(result, "/home/ci/repo")["results"][4]);
  };
  EXPECT_EQ(uri("/home/ci/repo/a b/train.py", "rules/x.yaml"), "a%20b/train.py");
  EXPECT_EQ(uri("./train/../x.py", "rules/x.yaml"), "x.py");
  EXPECT_EQ(uri("/opt/python/torch/nn.py", "rules/x.yaml"), "rules/x.yaml");
  EXPECT_EQ(uri("../other/x.py", "/home/ci/repo/team/x.yaml"), "team/x.yaml");
  EXPECT_EQ(uri("C:\\torch\\nn.py", "/elsewhere/team/x.yaml"), "dladvisor.yaml");
  EXPECT_EQ(uri("/home/ci/repository/x.py", ""), "dladvisor.yaml");
  EXPECT_EQ(uri("", "built-in/ranks/slow-host.yaml"), "dladvisor.yaml");
  result.policy_file = "ci/gate.yaml";
  EXPECT_EQ(uri("", "built-in/ranks/slow-host.yaml"), "ci/gate.yaml");
  EXPECT_EQ(UriOf(RunOf(result)["results"][0]), "ci/gate.yaml");
}

TEST(Sarif, LocatesNothingInFilesThatTheCheckoutLacks) {
  const ScratchDir checkout;
  std::filesystem::create_directory(checkout.path() / "train");
  WriteFile(checkout.path() / "train/loop.py", "");
  GateResult result = RegressedGate();
  RuleVerdict& rule = result.rules[0];
  rule.rule_file = "built-in/ranks/slow-host.yaml";
  const auto uri = [&](const std::string& source) {
    rule.source_file = source;
    return UriOf(RunOf(result, checkout.path().string())["results"][4]);
  };
  EXPECT_EQ(uri("train/loop.py"), "train/loop.py");
  EXPECT_EQ(uri("torch/nn/modules/module.py"), "dladvisor.yaml");
  EXPECT_EQ(uri("train"), "dladvisor.yaml");
  // Of a gate in a folder of the repository.
  result.folder = "train";
  result.policy_file = "../gate.yaml";
  EXPECT_EQ(uri("loop.py"), "train/loop.py");
  EXPECT_EQ(uri("train/loop.py"), "train/loop.py");
  EXPECT_EQ(uri("other.py"), "gate.yaml");
  EXPECT_EQ(uri(""), "gate.yaml");
  result.policy_file = "own.yaml";
  EXPECT_EQ(uri(""), "train/own.yaml");
}

TEST(Sarif, FingerprintsAreOfTheRuleAndWhatItIsAbout) {
  const auto print = [](const GateResult& result) {
    return RunOf(result)["results"][4]["partialFingerprints"];
  };
  GateResult result = RegressedGate();
  const json before = print(result);
  result.rules[0].problem = "Another time, another figure.";
  result.rules[0].source_line = 99;
  EXPECT_EQ(print(result), before);
  result.rules[0].subjects = {R"({"rank":1,"device":1})"};
  EXPECT_EQ(print(result), before);
  result.rules[0].subjects = {R"({"rank":0,"device":1,"kernel":"gemm"})"};
  EXPECT_NE(print(result), before);
}

TEST(Sarif, KeepsToTheLimitsOfCodeScanning) {
  const json run = RunOf(HugeGate());
  EXPECT_EQ(run["results"].size(), 5000U);
  EXPECT_THAT(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"],
              HasSubstr("results left out"));
  for (const json& result : run["results"]) ASSERT_EQ(result["locations"].size(), 1U);
  EXPECT_LE(run["tool"]["driver"]["rules"].size(), 25'000U);
  for (const json& rule : run["tool"]["driver"]["rules"])
    ASSERT_LE(rule["shortDescription"]["text"].get<std::string>().size(), 1024U);
}

TEST(Sarif, HasNoLinkOfAProfilesMaking) {
  const json run = RunOf(HostileGate());
  for (const json& result : run["results"]) EXPECT_THAT(result["message"]["text"], Not(HasSubstr("](")));
}

}  // namespace
}  // namespace dladvisor::test
