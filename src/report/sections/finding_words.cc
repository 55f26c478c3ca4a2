// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/finding_words.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <set>

#include "engine/model/finding_id.h"
#include "engine/sql/sql_text.h"
#include "src/report/model/column_style.h"

namespace dladvisor {
namespace {

constexpr size_t kMostFacts = 5;

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

// A number or a word, not the 0 or 1 of a truth.
bool IsFigure(const Value& value, Unit unit) {
  const auto number = AsNumber(value);
  if (!number || *number == 0) return false;
  return unit != Unit::kNone || (*number != 1);
}

// As the problem has it, where that speaks of it.
std::optional<std::string> AsSaid(const Finding& finding, std::string_view name) {
  for (const PlacedValue& placed : finding.problem.values)
    if (placed.value.name == name && placed.noun.empty())
      return finding.problem.text.substr(placed.at, placed.length);
  return std::nullopt;
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

std::vector<std::pair<std::string, std::string>> KeyFacts(const Finding& finding) {
  std::vector<std::pair<std::string, std::string>> facts;
  std::set<std::string> seen;
  for (const NamedValue& key : finding.subject) seen.insert(NameWords(key.name));
  const auto add = [&](std::string_view name, const Value& value, Unit unit) {
    const std::string label = NameWords(name);
    if (facts.size() >= kMostFacts || !IsFigure(value, unit) || !seen.insert(label).second) return;
    facts.emplace_back(label, AsSaid(finding, name).value_or(FormatValue(value, unit)));
  };
  for (const ConditionTrace& condition : finding.why)
    for (const ComparedValues& compared : condition.compared) {
      if (IsName(compared.left)) add(compared.left, compared.left_value, compared.unit);
      if (IsName(compared.right)) add(compared.right, compared.right_value, compared.unit);
    }
  for (const NamedValue& let : finding.lets)
    if (AsSaid(finding, let.name) &&
        (let.unit == Unit::kNanoseconds || let.unit == Unit::kRatio || let.unit == Unit::kBytes))
      add(let.name, let.value, let.unit);
  return facts;
}

std::string FindingAnchor(const Finding& finding) {
  std::string anchor = "finding-" + FindingId(finding);
  for (char& c : anchor)
    if (!IsNamePart(c) && c != '-') c = '-';
  return anchor;
}

}  // namespace dladvisor
