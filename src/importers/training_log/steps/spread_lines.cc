// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/spread_lines.h"

#include <re2/re2.h>

#include <utility>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestPart = 160, kLongestStep = 2000;
// Fewer figures below a heading are no form of its own.
constexpr int kLeastFigures = 3;

}  // namespace

std::optional<std::string> SpreadLinesReader::Line(std::string_view line) {
  // "   --> STEP: 24/36 -- GLOBAL_STEP: 1000025", "[Step 200]", "Iteration 12:"; with figures behind it a
  // line is whole.
  static const RE2 heading(
      R"re((?i)^\W*(?:step|iteration|iter|update)\W{1,3}\d{1,9}(?: ?/ ?\d{1,9})?(?:\W{1,6}global[_ ]step\W{1,3}\d{1,12})?\W*$)re");
  // "     | > loss_disc: 3.01874  (3.46002)", "  - lr = 0.001".
  static const RE2 figure(
      R"re(^(?:\s+|\s*[|>*•-][|>*•\s-]*)([A-Za-z][\w ./-]{0,40}?)\s*[:=]\s*(-?\d[\d.]*(?:e[-+]?\d+)?(?:\s*[a-zA-Z/%]{1,12})?(?:\s*\(-?\d[\d.e+-]*\))?)[\s|,]*$)re");
  if (line.size() > kLongestPart) return std::nullopt;
  std::string plain;
  if (line.find('\x1b') != std::string_view::npos) line = plain = WithoutColours(line);
  if (line.find_first_of("0123456789") == std::string_view::npos) {
    if (step_.empty()) return std::nullopt;
  } else if (std::string name, value; !step_.empty() && RE2::FullMatch(line, figure, &name, &value)) {
    if (step_.size() + name.size() + value.size() < kLongestStep) step_.append(", " + name + ": " + value);
    ++figures_;
    return std::nullopt;
  }
  std::string whole = std::exchange(step_, {});
  const bool ends = std::exchange(figures_, 0) >= kLeastFigures;
  if (RE2::FullMatch(line, heading)) step_ = Trim(line);
  return ends ? std::optional(std::move(whole)) : std::nullopt;
}

}  // namespace dladvisor::training_log
