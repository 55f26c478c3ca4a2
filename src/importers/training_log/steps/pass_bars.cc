// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/pass_bars.h"

#include <re2/re2.h>

#include <string>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/step_forms.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestEpochHeading = 64, kLongestPieces = 32;
// Fewer rows show no course.
constexpr size_t kLeastRowsOfPasses = 2;
// Whole milliseconds are exact enough from here on.
constexpr double kLeastSecondsOfPass = 0.1;

// "1m12s", "45s885ms", "2D3h".
double SecondsOfPieces(std::string_view text) {
  static const RE2 piece(R"((\d{1,6})(ms|s|m|h|D))");
  re2::StringPiece rest(text.data(), text.size());
  int64_t number = 0;
  std::string unit;
  double seconds = 0;
  while (RE2::Consume(&rest, piece, &number, &unit))
    seconds += static_cast<double>(number) * (unit == "ms"  ? 1e-3
                                              : unit == "s" ? 1
                                              : unit == "m" ? 60
                                              : unit == "h" ? 3600
                                                            : 86400);
  return seconds;
}

}  // namespace

void PassBarsReader::Line(std::string_view line) {
  static const RE2 epoch(R"((?i)^\W*epoch[ :#=\[]{1,4}(\d{1,9})(?: *(?:/|of) *\d+)?\b)"),
      bar(R"(\[[=>. ]*(?: (\d{1,9})/(\d{1,9}) [=>. ]*)?\] +Step: [\dDhms]+ \| Tot: ([\dDhms]+))"),
      behind(R"([\x08 ](\d{1,9})/(\d{1,9})\s*$)"), loss(R"((?i)\bloss: *(\d+(?:\.\d+)?))");
  if (line.find(" | Tot: ") == std::string_view::npos) {
    if (int64_t number = 0; line.size() <= kLongestEpochHeading && RE2::PartialMatch(line, epoch, &number)) {
      EndPass();
      heading_ = number;
      headings_ = true;
    }
    return;
  }
  std::string done, total, pieces, value;
  if (!RE2::PartialMatch(line, bar, &done, &total, &pieces) || pieces.size() > kLongestPieces) return;
  if (done.empty() && !RE2::PartialMatch(line, behind, &done, &total)) return;
  Bar now{Integer(done).value_or(0), Integer(total).value_or(0), SecondsOfPieces(pieces), {}};
  if (now.done <= 0 || now.done > now.total) return;
  if (RE2::PartialMatch(line, loss, &value)) now.loss = Number(value);
  Draw(now);
}

// A pass begins with another count of batches, or anew.
void PassBarsReader::Draw(const Bar& bar) {
  if (bar_ && (bar_->total != bar.total || bar.done <= bar_->done)) EndPass();
  if (!bar_) {
    // Behind the line of an epoch the first; without such lines those of as many batches as the first.
    trains_ = headings_ ? heading_.has_value() : (total_ == 0 || bar.total == total_);
    if (trains_) {
      const auto number = std::exchange(heading_, {});
      const bool again = number && last_epoch_ && *number <= *last_epoch_;
      attempt_ += again;
      before_ = again ? 0 : before_ + total_;
      last_epoch_ = number;
      total_ = bar.total;
    }
  }
  bar_ = bar;
}

void PassBarsReader::EndPass() {
  if (!bar_) return;
  const Bar bar = *std::exchange(bar_, {});
  if (bar.done < 2 || bar.seconds < kLeastSecondsOfPass) return;
  const double each_ns = bar.seconds * kNsPerSecond / static_cast<double>(bar.done - 1);
  if (!trains_) {
    if (log_.iterations.empty() || bar.done != bar.total) return;
    ++log_.evaluations;
    log_.evaluation_ns += each_ns * static_cast<double>(bar.total);
    return;
  }
  TrainingIteration row;
  row.iteration = before_ + bar.done;
  row.attempt = attempt_;
  row.covers = bar.done;
  row.elapsed_ns = each_ns;
  row.loss = bar.loss;
  log_.iterations.push_back(row);
}

TrainingLog PassBarsReader::Finish() {
  EndPass();
  if (log_.iterations.size() < kLeastRowsOfPasses) return {};
  // The test of what was trained.
  if (log_.evaluations == 1) {
    log_.evaluations = 0;
    log_.evaluation_ns = 0;
  }
  log_.program = kBars;
  return std::move(log_);
}

}  // namespace dladvisor::training_log
