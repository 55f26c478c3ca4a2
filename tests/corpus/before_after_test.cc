// SPDX-License-Identifier: Apache-2.0
// BEFORE_AFTER.yaml: what a finding promises against what following it won.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

struct RunPair {
  std::string before, after, rule, misses;
  bool all_steps = false, first = false, stays = false;
  std::optional<double> before_ns, saved_ns;  // of a step, measured without the profiler
};

std::vector<RunPair> Pairs() {
  std::vector<RunPair> pairs;
  for (const YAML::Node& entry :
       YAML::LoadFile((test::SourceDir() / "tests/corpus/BEFORE_AFTER.yaml").string())) {
    pairs.push_back({entry["before"].as<std::string>(), entry["after"].as<std::string>(),
                     entry["rule"].as<std::string>(), entry["misses"].as<std::string>(""),
                     entry["all_steps"].as<bool>(false), entry["first"].as<bool>(false),
                     entry["stays"].as<bool>(false), std::nullopt, std::nullopt});
    if (const YAML::Node measured = entry["measured"]) {
      pairs.back().before_ns = measured[0].as<double>() * 1e6;
      pairs.back().saved_ns = (measured[0].as<double>() - measured[1].as<double>()) * 1e6;
    }
  }
  return pairs;
}

struct Judged {
  std::optional<Finding> finding;  // of the rule, where it fired
  std::string first;               // rule of the first finding
  double steady_ns = 0, all_ns = 0;
};

Judged Judge(const std::filesystem::path& path, const std::string& rule) {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  const Profile profile = LoadProfile(path, {});
  Database database = profile.OpenDatabase();
  const auto number = [&](const char* sql) {
    return AsNumber(database.Query(sql).rows.at(0).at(0)).value_or(0);
  };
  Judged judged;
  judged.steady_ns = number("SELECT step_ns FROM run");
  judged.all_ns = number("SELECT avg(duration_ns) FROM step");
  const Advice advice = Infer(knowledge, database);
  for (const Finding& finding : advice.findings)
    if (finding.rule == rule && finding.outcome == Outcome::kFired) judged.finding = finding;
  if (const std::vector<size_t> roots = advice.Roots(); !roots.empty())
    judged.first = advice.findings[roots.front()].rule;
  return judged;
}

class BeforeAfter : public testing::TestWithParam<RunPair> {};

TEST_P(BeforeAfter, WinsWhatWasPromised) {
  const RunPair& pair = GetParam();
  const auto before_path = test::ProfilePath(pair.before), after_path = test::ProfilePath(pair.after);
  for (const auto& path : {before_path, after_path})
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const Judged before = Judge(before_path, pair.rule), after = Judge(after_path, pair.rule);

  EXPECT_EQ(after.finding.has_value(), pair.stays)
      << "followed, and still said: " << (after.finding ? after.finding->problem.text : "nothing");
  ASSERT_TRUE(before.finding) << pair.rule << " did not fire";
  if (pair.first) {
    EXPECT_EQ(before.first, pair.rule);
  }
  ASSERT_TRUE(before.finding->saves && before.finding->saves->low_ns && before.finding->saves->high_ns);
  const double low = *before.finding->saves->low_ns, high = *before.finding->saves->high_ns;

  std::vector<double> won = {pair.saved_ns.value_or(before.steady_ns - after.steady_ns)};
  if (pair.all_steps) won.push_back(before.all_ns - after.all_ns);
  // What is sure of a promise may be nothing; its upper end tells the size of what can be won, in the time of
  // the profile, in which the host is slower: all that is lost, of which a remedy wins no less than four
  // sevenths (workers that load take processors from the loop).
  const double slower = before.steady_ns / pair.before_ns.value_or(before.steady_ns);
  EXPECT_LE(high, 1.75 * slower * std::ranges::min(won)) << "the range says too little";
  const bool holds = std::ranges::all_of(won, [&](double ns) { return low <= ns && ns <= high; });
  EXPECT_EQ(holds, pair.misses.empty())
      << "promised " << low / 1e6 << " to " << high / 1e6 << " ms, won " << testing::PrintToString(won)
      << " ns" << (pair.misses.empty() ? "" : "; no longer true: " + pair.misses);
}

INSTANTIATE_TEST_SUITE_P(RealPairs, BeforeAfter, testing::ValuesIn(Pairs()), [](const auto& test) {
  std::string name = std::to_string(test.index) + "_" + test.param.rule;
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace dladvisor
