// SPDX-License-Identifier: Apache-2.0
// Test files (rule_test.h) as data.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "engine/rules/yaml_reader.h"

namespace dladvisor {

// What a test expects of a number: "0.3", or any from "0.3" to "0.4" in "0.3..0.4".
struct NumberRange {
  double low = 0, high = 0;
  bool Holds(double number) const;  // to nine digits
};
std::optional<NumberRange> RangeOf(const std::string& text);

// What a test says of a saving that must not be there.
inline constexpr std::string_view kNoSaving = "none";

struct Expectation {
  std::vector<std::pair<std::string, std::string>> subject;  // column and value as text
  std::optional<std::string> outcome, problem, recommendation, suppressed_by;
  std::optional<std::string> saves_low, saves_high;  // a NumberRange, or kNoSaving
  std::optional<std::vector<std::string>> missing;
  std::vector<std::pair<std::string, std::string>>
      values;  // of lets, or of a relation's columns; also ranges
};

struct TestCase {
  std::string name;
  std::map<std::string, std::vector<std::vector<Value>>> rows;  // by relation, a value per column
  std::vector<Expectation> expect;
};

struct TestFile {
  std::string rule;  // or relation
  bool never_unknown = false;
  std::vector<TestCase> cases;
};

// Nothing where the file cannot be read or tests nothing that is known; every problem is added.
std::optional<TestFile> ReadTestFile(const RuleFile& file, const KnowledgeBase& knowledge,
                                     Problems& problems);

// Adds what is wrong with the tests of a rule or relation that is wrong itself, as are those of these names:
// all but what only a sound one tells.
void CheckTestFile(const RuleFile& file, const std::set<std::string>& wrong, const KnowledgeBase& knowledge,
                   Problems& problems);

// The whole text as a number.
std::optional<double> NumberOf(const std::string& text);

}  // namespace dladvisor
