// SPDX-License-Identifier: Apache-2.0
#include "engine/inference/conclusions.h"

#include <utility>

namespace dladvisor {

void Conclusions::Add(std::vector<Finding> more) {
  for (Finding& finding : more) {
    if (finding.outcome == Outcome::kFired) fired[finding.rule].Add(findings.size(), finding.subject);
    if (finding.outcome == Outcome::kUnknown) unknown[finding.rule].Add(findings.size(), finding.subject);
    if (finding.outcome == Outcome::kFailed) failed[finding.rule].Add(findings.size(), finding.subject);
    findings.push_back(std::move(finding));
  }
}

std::vector<size_t> Conclusions::FiredBy(const std::string& rule) const {
  const auto index = fired.find(rule);
  return index == fired.end() ? std::vector<size_t>() : index->second.All();
}

const Finding* Conclusions::Match(const std::map<std::string, SubjectIndex>& index, const std::string& rule,
                                  const Finding& subject) const {
  const auto of_rule = index.find(rule);
  if (of_rule == index.end()) return nullptr;
  const std::vector<size_t>& matching = of_rule->second.Matching(subject.subject);
  return matching.empty() ? nullptr : &findings[matching[0]];
}

}  // namespace dladvisor
