// SPDX-License-Identifier: Apache-2.0
#include "src/gate/model/verdict.h"

#include <map>
#include <nlohmann/json.hpp>

namespace dladvisor {

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kImproved:
      return "improved";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kRegressed:
      return "regressed";
    case Verdict::kNotComparable:
      return "not comparable";
  }
  return "";
}

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kOff:
      return "off";
    case Level::kExplain:
      return "explain";
    case Level::kWarn:
      return "warn";
    case Level::kError:
      return "error";
  }
  return "";
}

bool MissesBudget(const MetricVerdict& metric) {
  return metric.candidate &&
         ((metric.max && *metric.candidate > *metric.max) || (metric.min && *metric.candidate < *metric.min));
}

std::string IdentityOf(const RuleVerdict& rule) { return IdentityOf(rule.rule, rule.subjects.front()); }

std::string IdentityOf(const std::string& rule, const std::string& subject) {
  std::string identity = rule + '\0';
  const auto keys = nlohmann::ordered_json::parse(subject, nullptr, false);
  if (!keys.is_object()) return identity;
  std::map<std::string, std::string> texts;  // the same in whichever order
  for (const auto& [name, value] : keys.items())
    if (value.is_string()) texts[name] = value.get<std::string>();
  for (const auto& [name, text] : texts) identity += name + '\0' + text + '\0';
  return identity;
}

}  // namespace dladvisor
