// SPDX-License-Identifier: Apache-2.0
// The evaluation of reports against labels (evaluation/): how it judges, and the level that reports have
// reached.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "tests/corpus/evaluation/judge.h"
#include "tests/corpus/evaluation/print.h"
#include "tests/support/files.h"

namespace dladvisor::evaluation {
namespace {

const Expectations& OfTheCorpus() {
  static const Expectations expectations =
      ReadExpectations(LabelsBeside(test::DataDir()), test::SourceDir() / "tests/corpus/evaluation");
  return expectations;
}

bool LabelsAreThere() { return std::filesystem::exists(LabelsBeside(test::DataDir())); }

// A label with a major cause that `copies` names, which forbids what `gaps` says.
struct Example {
  Label label{"file", {{"slow-copies", "about 4 ms of 10 ms", true, 0.4, true}}, {}};
  Expectations expectations;
  Observed observed;

  Example() {
    FileNotes notes;
    notes.kind = "test";
    notes.silent = {"idle"};
    expectations.notes = {{"file", notes}};
    expectations.causes = {{"slow-copies", {{"copies"}, ""}}};
    expectations.claims = {{"idle", {"gaps"}}};
    observed.window_ns = 10e6;
  }
  FileNotes& Notes() { return expectations.notes["file"]; }
  void Say(const std::string& rule, const std::string& text = "", std::optional<double> low = {},
           std::optional<double> high = {}) {
    observed.findings.push_back({rule, "warning", text, text, low, high, false});
    if (observed.first.empty()) observed.first = rule;
  }
  JudgedFile Judge() { return JudgeFile(label, expectations, observed, {}); }
};

TEST(Evaluation, ReadsSharesOutOfBounds) {
  EXPECT_DOUBLE_EQ(ShareIn("at most 12 ms of 15 ms per step").value(), 0.8);
  EXPECT_DOUBLE_EQ(ShareIn("<=14 of 35 ms; 10 ms realistic").value(), 0.4);
  EXPECT_DOUBLE_EQ(ShareIn("about 500 us of 2 ms").value(), 0.25);
  EXPECT_FALSE(ShareIn("not derivable"));
}

TEST(Evaluation, AFindingIsRightByACauseAndWrongByAForbiddenClaim) {
  Example example;
  example.Say("copies");
  example.Say("gaps");
  example.Say("other");
  const JudgedFile file = example.Judge();
  ASSERT_EQ(file.findings.size(), 3u);
  EXPECT_EQ(file.findings[0].verdict, Verdict::kRight);
  EXPECT_EQ(file.findings[1].verdict, Verdict::kWrong);
  EXPECT_EQ(file.findings[2].verdict, Verdict::kToJudge);
  EXPECT_TRUE(file.causes.at(0).named);
  EXPECT_TRUE(file.first_right);
  const Score score = ScoreOf({file});
  EXPECT_DOUBLE_EQ(score.Precision(), 0.5);
  EXPECT_EQ(score.to_judge, 1);
}

TEST(Evaluation, ANoteOutranksTheLabelAsLongAsTheFindingHasItsWords) {
  Example example;
  example.Notes().findings["copies"] = {Verdict::kMisleading, "no pinned memory here", "pinned", {}};
  example.Say("copies", "use pinned memory");
  EXPECT_EQ(example.Judge().findings[0].verdict, Verdict::kMisleading);
  EXPECT_FALSE(example.Judge().causes[0].named);
  EXPECT_FALSE(example.Judge().first_right);
  example.observed.findings[0].text = "keep it on the GPU";
  EXPECT_EQ(example.Judge().findings[0].verdict, Verdict::kRight);
}

TEST(Evaluation, ARuleThatALabelBothNamesAndForbidsIsToJudge) {
  Example example;
  example.expectations.claims["idle"].push_back("copies");
  example.Say("copies");
  EXPECT_EQ(example.Judge().findings[0].verdict, Verdict::kToJudge);
}

TEST(Evaluation, APromiseHoldsWithinWhatTheLabelAllows) {
  const auto holds = [](double low_ms, double high_ms) {
    Example example;
    example.Say("copies", "", low_ms * 1e6, high_ms * 1e6);
    return example.Judge().findings[0].range.value().holds;
  };
  EXPECT_TRUE(holds(1, 4.3));
  EXPECT_FALSE(holds(1, 5)) << "more than the label allows";
  EXPECT_FALSE(holds(0, 1.5)) << "less than half of the label's estimate";
}

TEST(Evaluation, ACauseThatNotesFindWrongDoesNotCount) {
  Example example;
  example.Notes().wrong["slow-copies"] = "the copies are of another process";
  const JudgedFile file = example.Judge();
  EXPECT_TRUE(file.causes.empty());
  EXPECT_TRUE(file.first_right) << "nothing to recommend, and nothing recommended";
}

TEST(Evaluation, WithoutAMajorCauseWhatIsRecommendedFirstMustBeRight) {
  for (const Verdict verdict : {Verdict::kRight, Verdict::kMisleading, Verdict::kWrong}) {
    Example example;
    example.label.causes[0].major = false;
    example.Notes().findings["copies"] = {verdict, "by the data", "", {}};
    example.Say("copies");
    EXPECT_EQ(example.Judge().first_right, verdict == Verdict::kRight);
  }
}

TEST(Evaluation, AFindingThatIsNotRightPromisesNothing) {
  Example example;
  example.Say("gaps", "", 1e6, 2e6);
  EXPECT_FALSE(example.Judge().findings[0].range.value().holds);
  example.observed.findings[0].low = 0;
  EXPECT_FALSE(example.Judge().findings[0].range) << "a range from 0 is no promise";
}

TEST(Evaluation, NamesRulesThatExist) {
  if (!LabelsAreThere()) GTEST_SKIP() << "no labels beside the folder of profiles";
  std::set<std::string> rules = {""};
  std::istringstream lines(test::Run("'" + test::ProgramPath().string() + "' rules list").out);
  for (std::string line; std::getline(lines, line);) rules.insert(line.substr(0, line.find(' ')));
  const auto expect = [&](const std::string& rule, const std::string& where) {
    EXPECT_TRUE(rules.contains(rule)) << where << " has the rule " << rule;
  };
  for (const auto& [cause, named] : OfTheCorpus().causes)
    for (const std::string& rule : named.rules) expect(rule, "cause " + cause);
  for (const auto& [claim, claiming] : OfTheCorpus().claims)
    for (const std::string& rule : claiming) expect(rule, "claim " + claim);
  for (const auto& [file, notes] : OfTheCorpus().notes)
    for (const auto& [rule, note] : notes.findings) expect(rule, file);
  for (const Pair& pair : OfTheCorpus().pairs) expect(pair.rule, pair.before);
}

TEST(Evaluation, HoldsTheLevelReached) {
  if (!LabelsAreThere()) GTEST_SKIP() << "no labels beside the folder of profiles";
  const Expectations& expectations = OfTheCorpus();
  for (const Label& label : expectations.labels)
    if (!std::filesystem::exists(test::DataDir() / label.file)) GTEST_SKIP() << label.file << " is not there";
  const std::vector<JudgedFile> files = JudgeFiles(expectations, test::ProgramPath(), test::DataDir());
  for (const auto& [half, least] : expectations.levels) {
    const Score score = ScoreOf(files, [&](const JudgedFile& file) { return file.half == half; });
    EXPECT_GE(score.Precision(), least.precision) << half;
    EXPECT_GE(score.MajorNamed(), least.causes) << half;
    EXPECT_GE(score.FirstRight(), least.first) << half;
    EXPECT_GE(score.RangesHold(), least.ranges) << half;
    EXPECT_GE(score.FactsHold(), least.facts) << half;
    EXPECT_GE(score.StepsHold(), least.steps) << half;
    EXPECT_LE(score.to_judge, least.to_judge)
        << half << ": say in evaluation/" << half << ".yaml whether they are right (./dev evaluate --half "
        << half << ")";
  }
}

}  // namespace
}  // namespace dladvisor::evaluation
