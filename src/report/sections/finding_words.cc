// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/finding_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <set>

#include "engine/base/text.h"
#include "engine/inference/explanation.h"
#include "engine/model/finding_id.h"
#include "src/report/model/column_style.h"

namespace dladvisor {
namespace {

constexpr size_t kMostFacts = 5, kLongestExpression = 60;

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

bool IsName(std::string_view sql) {
  return !sql.empty() && IsNameStart(sql[0]) && std::ranges::all_of(sql, IsNamePart);
}

bool IsNumber(std::string_view sql) {
  return !sql.empty() && std::ranges::all_of(sql, [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+' || c == 'e';
  });
}

// Sides of comparisons that are no fact: a number, a param.
bool IsLimit(std::string_view sql) {
  return IsNumber(sql) || (sql.starts_with(':') && IsName(sql.substr(1)));
}

void LowerFirst(std::string& text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
}

// "Eligible time × 2" of "2 * eligible_ns"; "" of what is no plain arithmetic.
std::string ExpressionWords(std::string_view sql) {
  if (sql.size() > kLongestExpression || sql.find_first_of("'\"[?") != std::string_view::npos) return "";
  std::string words;
  for (size_t at = 0; at < sql.size();) {
    if (sql[at] == ':' && at + 1 < sql.size() && IsNameStart(sql[at + 1])) {
      ++at;
    } else if (IsNameStart(sql[at])) {
      size_t end = at;
      while (end < sql.size() && (IsNamePart(sql[end]) || sql[end] == '.')) ++end;
      const std::string_view name = sql.substr(at, end - at);
      if (end < sql.size() && sql[end] == '(') return "";  // a function
      static constexpr std::array kKeywords = {"SELECT", "AND",  "OR",   "NOT", "IS",
                                               "IN",     "NULL", "CASE", "LIKE"};
      if (std::ranges::find(kKeywords, name) != kKeywords.end()) return "";
      std::string word = NameWords(name);
      if (!words.empty()) LowerFirst(word);
      words += word;
      at = end;
    } else if (sql[at] == '*') {
      words += "×";
      ++at;
    } else {
      words += sql[at++];
    }
  }
  return words;
}

std::string_view Mirrored(std::string_view op) {
  return op == "<" ? ">" : op == "<=" ? ">=" : op == ">" ? "<" : op == ">=" ? "<=" : op;
}

std::string OperatorWords(std::string_view op) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kWords = {
      {{">", "more than"},
       {">=", "at least"},
       {"<", "less than"},
       {"<=", "at most"},
       {"=", "exactly"},
       {"==", "exactly"},
       {"IS", "exactly"},
       {"<>", "other than"},
       {"!=", "other than"},
       {"IS NOT", "other than"}}};
  const auto found = std::ranges::find(kWords, op, [](const auto& word) { return word.first; });
  return std::string(found == kWords.end() ? op : found->second);
}

ConditionWords WordsOf(const ComparedValues& values) {
  ComparedValues compared = values;
  if (IsLimit(compared.left) && !IsLimit(compared.right)) {
    std::swap(compared.left, compared.right);
    std::swap(compared.left_value, compared.right_value);
    compared.op = std::string(Mirrored(compared.op));
  }
  ConditionWords words;
  words.what = ExpressionWords(compared.left);
  if (words.what.empty()) words.what = "A computed value";
  words.here = FormatValue(compared.left_value, compared.unit);
  words.wanted = OperatorWords(compared.op) + " " + FormatValue(compared.right_value, compared.unit);
  if (!IsLimit(compared.right))
    if (std::string right = ExpressionWords(compared.right); !right.empty()) {
      LowerFirst(right);
      words.wanted += " (" + right + ")";
    }
  words.apart = DistanceText(compared);
  words.limit = compared.limit;
  return words;
}

// A number or a word, not the 0 or 1 of a truth.
bool IsFigure(const Value& value, Unit unit) {
  const auto number = AsNumber(value);
  if (!number || *number == 0) return false;
  return unit != Unit::kNone || (*number != 1);
}

}  // namespace

std::string NameWords(std::string_view name) {
  if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  std::string label = StyleOf({std::string(name), Unit::kNone}).label;
  if (name.ends_with("_ns") && label.find("ime") == std::string::npos &&
      label.find("uration") == std::string::npos)
    label += " Time";
  // Words after the first in small letters, but for abbreviations.
  for (size_t at = 1; at + 1 < label.size(); ++at)
    if (label[at - 1] == ' ' && std::islower(static_cast<unsigned char>(label[at + 1])))
      label[at] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[at])));
  return label;
}

std::vector<ConditionWords> WordsOf(const ConditionTrace& condition) {
  std::vector<ConditionWords> all;
  for (const ComparedValues& compared : condition.compared) all.push_back(WordsOf(compared));
  if (!all.empty()) return all;
  ConditionWords words;
  words.here = !condition.holds ? "unknown" : *condition.holds ? "yes" : "no";
  words.what = ExpressionWords(condition.sql);
  if (words.what.empty()) {
    words.what = "A further condition";
    for (const NamedValue& fact : condition.facts)
      words.what += fmt::format("{}{}", words.what.ends_with("condition") ? " on " : ", ", [&] {
        std::string name = NameWords(fact.name);
        LowerFirst(name);
        return name;
      }());
  }
  return {words};
}

std::vector<std::pair<std::string, std::string>> KeyFacts(const Finding& finding) {
  std::vector<std::pair<std::string, std::string>> facts;
  std::set<std::string> seen;
  for (const NamedValue& key : finding.subject) seen.insert(NameWords(key.name));
  const auto add = [&](std::string_view name, const Value& value, Unit unit) {
    const std::string label = NameWords(name);
    if (facts.size() >= kMostFacts || !IsFigure(value, unit) || !seen.insert(label).second) return;
    facts.emplace_back(label, FormatValue(value, unit));
  };
  for (const ConditionTrace& condition : finding.why)
    for (const ComparedValues& compared : condition.compared) {
      if (IsName(compared.left)) add(compared.left, compared.left_value, compared.unit);
      if (IsName(compared.right)) add(compared.right, compared.right_value, compared.unit);
    }
  for (const NamedValue& let : finding.lets)
    if (let.unit == Unit::kNanoseconds || let.unit == Unit::kRatio || let.unit == Unit::kBytes)
      add(let.name, let.value, let.unit);
  return facts;
}

std::pair<std::string, std::string> FirstSentence(std::string_view text) {
  const std::string line = OneLine(text);
  size_t end = line.find(". ");
  while (end != std::string::npos) {
    const std::string_view before = std::string_view(line).substr(0, end);
    if (!before.ends_with("e.g") && !before.ends_with("i.e")) break;
    end = line.find(". ", end + 1);
  }
  if (end == std::string::npos) return {line, ""};
  return {line.substr(0, end + 1), line.substr(end + 2)};
}

std::string FindingAnchor(const Finding& finding) {
  std::string anchor = "finding-" + FindingId(finding);
  for (char& c : anchor)
    if (!IsNamePart(c) && c != '-') c = '-';
  return anchor;
}

}  // namespace dladvisor
