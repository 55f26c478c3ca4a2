// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/alike_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/render/merged_message.h"

namespace dladvisor {
namespace {

bool IsPlace(const NamedValue& key) {
  return key.name == "rank" || key.name == "device" || key.name == "profile";
}

}  // namespace

std::string AlikeKey(const Advice& advice, size_t index) {
  const Finding& finding = advice.findings[index];
  std::string key = finding.rule;
  bool in_place = false;
  for (const NamedValue& value : finding.subject) {
    in_place = in_place || IsPlace(value);
    key += '\n' + value.name;
    if (!IsPlace(value)) key += '=' + FormatValue(value.value, value.unit);
  }
  if (!in_place) return fmt::format("{}", index);
  key += '\n' + ShapeOf(finding.problem);
  for (const RenderedMessage& message : finding.recommendation) key += '\n' + ShapeOf(message);
  return key;
}

Finding SavingMostOf(const std::vector<const Finding*>& alike) {
  const auto high = [](const Finding* f) { return f->saves ? f->saves->high_ns.value_or(-1) : -1; };
  Finding most = **std::ranges::max_element(alike, {}, high);
  if (!most.saves) return most;
  for (const Finding* finding : alike)
    most.saves->low_ns =
        std::min(most.saves->low_ns.value_or(0), finding->saves ? finding->saves->low_ns.value_or(0) : 0);
  return most;
}

Finding SavingMostOfAlike(const Advice& advice, const Finding& finding) {
  const auto index = static_cast<size_t>(&finding - advice.findings.data());
  const std::string key = AlikeKey(advice, index);
  std::vector<const Finding*> alike;
  for (size_t i = 0; i < advice.findings.size(); ++i)
    if (advice.findings[i].outcome == Outcome::kFired && AlikeKey(advice, i) == key)
      alike.push_back(&advice.findings[i]);
  return SavingMostOf(alike);
}

}  // namespace dladvisor
