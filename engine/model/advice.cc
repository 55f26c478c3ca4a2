// SPDX-License-Identifier: Apache-2.0
#include "engine/model/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tuple>

namespace dladvisor {

std::string_view SeverityName(Severity s) {
  switch (s) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kInfo:
      return "info";
  }
  return "";
}

std::string_view ConfidenceName(Confidence c) {
  switch (c) {
    case Confidence::kHigh:
      return "high";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kLow:
      return "low";
  }
  return "";
}

std::string_view OutcomeName(Outcome o) {
  switch (o) {
    case Outcome::kFired:
      return "fired";
    case Outcome::kClear:
      return "clear";
    case Outcome::kUnknown:
      return "unknown";
    case Outcome::kSuppressed:
      return "suppressed";
    case Outcome::kFailed:
      return "failed";
  }
  return "";
}

std::string WhyUndecided(const Finding& finding) {
  if (finding.outcome == Outcome::kFailed) return "it failed: " + finding.error;
  if (finding.outcome != Outcome::kUnknown) return "";
  if (!finding.error.empty()) return finding.error;
  return fmt::format("{}", fmt::join(finding.lacks, "; "));
}

std::optional<double> SavingClaim::ExpectedNs() const {
  if (!high_ns) return std::nullopt;
  const double low = low_ns.value_or(0), middle = (low + *high_ns) / 2;
  const double expected = std::min(std::max(middle, 2 * low), *high_ns);
  return std::min({expected, limit_ns.value_or(expected), now_ns.value_or(expected)});
}

namespace {

// Of a finding that does not say what share of the time it is about.
constexpr double kUnknownShareOfTime = 0.1;

double ShareOfTime(const Finding& finding) {
  for (const NamedValue& let : finding.lets)
    if (let.name == "share_of_time") return AsNumber(let.value).value_or(kUnknownShareOfTime);
  return kUnknownShareOfTime;
}

}  // namespace

std::vector<size_t> Advice::Roots() const {
  // What a finding explains lends it its weight: severity is that of the whole tree, and so is the saving of
  // a finding that does not say what it saves itself.
  std::vector<Severity> severity(findings.size());
  std::vector<double> expected(findings.size());
  std::vector<size_t> roots;
  const auto claim = [](const Finding& f) { return f.saves ? f.saves->ExpectedNs().value_or(-1) : -1; };
  for (size_t i = 0; i < findings.size(); ++i) {
    severity[i] = findings[i].severity;
    expected[i] = claim(findings[i]);
  }
  for (size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].outcome != Outcome::kFired) continue;
    if (!findings[i].caused_by) roots.push_back(i);
    bool lends = true;
    for (auto cause = findings[i].caused_by; cause; cause = findings[*cause].caused_by) {
      severity[*cause] = std::min(severity[*cause], findings[i].severity);
      lends = lends && claim(findings[*cause]) < 0;
      if (lends) expected[*cause] = std::max(expected[*cause], claim(findings[i]));
    }
  }
  const auto rank = [&](size_t i) {
    return std::tuple(severity[i], -expected[i], -ShareOfTime(findings[i]), findings[i].confidence,
                      std::string_view(findings[i].rule), i);
  };
  std::sort(roots.begin(), roots.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return roots;
}

}  // namespace dladvisor
