#include "engine/advice.h"

#include <algorithm>
#include <limits>
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

std::vector<size_t> Advice::Roots() const {
  std::vector<size_t> roots;
  for (size_t i = 0; i < findings.size(); ++i)
    if (findings[i].outcome == Outcome::kFired && !findings[i].caused_by) roots.push_back(i);
  const auto rank = [&](size_t i) {
    const Finding& f = findings[i];
    const double high = f.saves ? f.saves->high_ns.value_or(-1) : -1;
    return std::tuple(f.severity, -high, f.confidence, std::string_view(f.rule), i);
  };
  std::sort(roots.begin(), roots.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return roots;
}

}  // namespace dladvisor
