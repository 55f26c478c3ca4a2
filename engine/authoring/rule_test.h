// SPDX-License-Identifier: Apache-2.0
// Runs the tests of ID.test.yaml files: each gives rows of relations (columns not given are NULL) and expects
// outcomes, without facts of a run.
//
//   tests:
//     - name: fires when the shop is full
//       given: {shop: [{shop: 1, busy_share: 0.81}]}
//       expect: [{subject: {shop: 1}, outcome: fired, problem: "Shop 1 is busy 81.0 %"}]
//
// `expect` lists the findings of the rule in the order of the rows of `for`, and must name every subject.
// A number may be a range, `0.3..0.4`, and a saving that must not be there is `none`.
// Keys: subject (some of its key columns), outcome, problem and recommendation (part of the text), saves_low,
// saves_high, missing, suppressed_by, values (of lets). Rules named in `given` and `unless` are evaluated on
// the same rows. A rule whose conditions cannot be unknown, though they read facts that may be NULL, says why
// in `never_unknown: REASON` beside `tests`. Derived relations follow from the given rows, `finding` from the
// rules named, unless a test gives theirs; a derived relation has a test file too, whose `expect` lists its
// rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"

namespace dladvisor {

struct RuleTestName {
  std::string rule, test;
};

struct RuleTestResult : RuleTestName {
  bool passed = false;
  std::string diff;  // expected against actual, line by line, where it failed
};

// What test files hold.
struct RuleTestList {
  std::vector<RuleTestName> tests;
  // "file:line:col: RULE: ..." for rules that lack a fired, a clear or, where a fact they read may be NULL,
  // an unknown case, and for relations without a test.
  std::vector<std::string> untested;
  std::vector<std::string> problems;  // of test files that cannot be read or name no rule, likewise
};

struct RuleTestReport {
  std::vector<RuleTestResult> results;
  std::vector<std::string> untested, problems;  // as in RuleTestList
};

// Reads the tests and runs none.
RuleTestList ReadRuleTests(const KnowledgeBase& knowledge, std::span<const RuleFile> test_files);

// Runs the tests whose "RULE: TEST" contains `filter`.
RuleTestReport RunRuleTests(const KnowledgeBase& knowledge, std::span<const RuleFile> test_files,
                            const std::string& filter = {});

}  // namespace dladvisor
