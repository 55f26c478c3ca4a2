// SPDX-License-Identifier: Apache-2.0
// LABELS.yaml: what experts read from real profiles, and folders of the ranks of a job, against what the
// built-in rules say of them.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

struct Label {
  std::string rule, why;
  bool must;
};

struct Labelled {
  std::vector<std::string> files;
  std::vector<Label> labels;
};

std::vector<Labelled> Labels() {
  std::vector<Labelled> files;
  for (const YAML::Node& entry : YAML::LoadFile((test::SourceDir() / "tests/corpus/LABELS.yaml").string())) {
    Labelled& labelled = files.emplace_back();
    if (entry["files"])
      labelled.files = entry["files"].as<std::vector<std::string>>();
    else
      labelled.files = {entry["file"].as<std::string>()};
    for (const char* list : {"must", "must_not"})
      for (const YAML::Node& label : entry[list])
        labelled.labels.push_back(
            {label["rule"].as<std::string>(), label["why"].as<std::string>(), std::string(list) == "must"});
  }
  return files;
}

const KnowledgeBase& BuiltIn() {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  return knowledge;
}

TEST(Labels, NameRulesThatExist) {
  std::set<std::string> rules;
  for (const Rule& rule : BuiltIn().rules()) rules.insert(rule.id);
  const std::vector<Labelled> labels = Labels();
  EXPECT_GE(labels.size(), 25u);
  for (const Labelled& labelled : labels)
    for (const Label& label : labelled.labels)
      EXPECT_TRUE(rules.contains(label.rule)) << labelled.files[0] << ": " << label.rule;
}

class LabelledFile : public testing::TestWithParam<Labelled> {};

TEST_P(LabelledFile, IsReadAsExpertsReadIt) {
  std::vector<std::string> paths;
  for (const std::string& file : GetParam().files) {
    paths.push_back((test::DataDir() / file).string());
    if (!std::filesystem::exists(paths.back())) GTEST_SKIP() << paths.back() << " is not there";
  }
  Alone alone;
  const Profile profile = LoadProfiles(paths, {}, alone);
  Database database = profile.OpenDatabase();
  const Advice advice = Infer(BuiltIn(), database);
  for (const Label& label : GetParam().labels) {
    std::string said;
    for (const Finding& finding : advice.findings)
      if (finding.rule == label.rule && finding.outcome == Outcome::kFired) said = finding.problem;
    EXPECT_EQ(!said.empty(), label.must) << label.rule << (label.must ? " is missing" : " is wrong")
                                         << "\n  expert: " << label.why << "\n  we say: " << said;
  }
}

INSTANTIATE_TEST_SUITE_P(RealExports, LabelledFile, testing::ValuesIn(Labels()), [](const auto& test) {
  std::string name = std::filesystem::path(test.param.files[0]).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return std::to_string(test.index) + "_" + name;
});

}  // namespace
}  // namespace dladvisor
