// SPDX-License-Identifier: Apache-2.0
// Reports against labels: which findings are right, which causes are named, which ranges and figures hold.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/corpus/evaluation/expectations.h"
#include "tests/corpus/evaluation/observed.h"

namespace dladvisor::evaluation {

struct Range {  // a promised saving as shares of the analysed time, against what the label allows
  double low = 0, high = 0, least = 0, most = 0;
  bool holds = false;
};

struct JudgedFinding {  // of one rule in one file, however many subjects it has
  std::string rule, severity, problem, why;
  Verdict verdict = Verdict::kToJudge;
  std::vector<std::string> causes;  // of the label that it names
  std::optional<Range> range;       // where it promises a saving and the label bounds it
};

struct JudgedCause {
  Cause cause;
  bool named = false;
  std::string needs;
};

struct JudgedFact {
  std::string text;
  const FactQuery* query = nullptr;
  double label = 0;  // in the unit of the query
  std::optional<double> ours;
  bool holds = false;
};

struct JudgedFile {
  std::string file, half, kind, refused;
  std::vector<JudgedFinding> findings;
  std::vector<JudgedCause> causes;  // without those that notes find wrong
  bool first_right = false;         // the first recommendation
  std::string first;                // its rule, or why there is none
  std::vector<JudgedFact> facts;
};

struct Score {  // over some files
  int findings = 0, right = 0, misleading = 0, wrong = 0, to_judge = 0;
  int warnings = 0, warnings_right = 0, warnings_to_judge = 0;
  int major = 0, major_named = 0, minor = 0, minor_named = 0;
  int files = 0, first_right = 0;
  int ranges = 0, ranges_hold = 0, low_ends = 0, low_ends_hold = 0;  // low ends above 0
  int facts = 0, facts_hold = 0, steps = 0, steps_hold = 0;

  double Precision() const;  // of warnings with a verdict
  double MajorNamed() const;
  double FirstRight() const;
  double RangesHold() const;
  double FactsHold() const;
  double StepsHold() const;
};

// The facts of a label that a query can give, not judged yet.
std::vector<JudgedFact> FactsToCheck(const Label& label, const Expectations& expectations);

// `observed` has the values of the queries of `facts`.
JudgedFile JudgeFile(const Label& label, const Expectations& expectations, const Observed& observed,
                     std::vector<JudgedFact> facts);

// Runs `program` on every labelled file below `data` that is there, several at a time; in the labels' order.
std::vector<JudgedFile> JudgeFiles(const Expectations& expectations, const std::filesystem::path& program,
                                   const std::filesystem::path& data);

Score ScoreOf(
    const std::vector<JudgedFile>& files,
    const std::function<bool(const JudgedFile&)>& which = [](const JudgedFile&) { return true; });

struct JudgedPair {
  Pair pair;
  std::optional<double> before_ns, after_ns;  // per round; unknown where there are neither steps nor rounds
  bool predicted = false;                     // the rule spoke of the first run
  std::optional<double> low_ns, high_ns;      // what it promised per round
  bool gone = false;                          // it does not speak of the second
};

// The pairs whose files are there.
std::vector<JudgedPair> JudgePairs(const Expectations& expectations, const std::filesystem::path& program);

}  // namespace dladvisor::evaluation
