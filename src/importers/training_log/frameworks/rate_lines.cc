// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/rate_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <numeric>

#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/step_forms.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfRate = 1024;
constexpr double kMostTflops = 5000;  // of no GPU in 16 bits

}  // namespace

void RateLinesReader::Line(std::string_view line, bool is_step) {
  if (is_step) {
    ++step_lines_;
    last_skip_.clear();
  }
  if (line.size() > kLongestLineOfRate) return;
  static const RE2 bar(R"((?:\||: *\d+%).{0,80}?\| *(\d{1,9})/\d{1,9} \[)"),
      rate(
          R"((?i)\b(?:tera[ _-]?flops?|t?flop[s/]{0,2}s?)\b[^\d|,;]{0,24}?(?:\bper |/|_per_)(?:gpu|device|accelerator|chip)s?\b[^\d|,;]{0,12}?(\d+(?:\.\d+)?)(?:\D|$))"),
      tera(R"((?i)\btera[ _-]?flop|\btflop)");
  if (int64_t done = 0; line.find("it") != std::string_view::npos && RE2::PartialMatch(line, bar, &done))
    done_ = done;
  double value = 0;
  if ((line.find("lop") != std::string_view::npos || line.find("LOP") != std::string_view::npos) &&
      RE2::PartialMatch(line, tera) && RE2::PartialMatch(line, rate, &value) && value > 0 &&
      value < kMostTflops)
    tflops_per_gpu_.push_back(value);
  Skip(line);
}

// All ranks may print it; that of the next step has another scale, or stands behind another line of a step.
void RateLinesReader::Skip(std::string_view line) {
  static const RE2 skip(
      R"((?:OVERFLOW! Rank \d+ Skipping step\.|Gradient overflow\.  ?Skipping step, loss scaler \d+|gradient overflow detected, ignoring gradient,?)(.*))");
  if (line.find("verflow") == std::string_view::npos && line.find("OVERFLOW") == std::string_view::npos)
    return;
  std::string what;
  if (!RE2::PartialMatch(line, skip, &what) || what == last_skip_) return;
  last_skip_ = what;
  skipped_.push_back({step_lines_, done_});
}

void RateLinesReader::AddTo(TrainingLog& log) const {
  if (log.iterations.empty()) return;
  AddSkips(log);
  if (tflops_per_gpu_.empty() || std::ranges::any_of(log.iterations, [](const TrainingIteration& row) {
        return row.tflops_per_gpu.has_value();
      }))
    return;
  const bool each = tflops_per_gpu_.size() == log.iterations.size();
  const double mean = std::accumulate(tflops_per_gpu_.begin(), tflops_per_gpu_.end(), 0.0) /
                      static_cast<double>(tflops_per_gpu_.size());
  for (size_t i = 0; i < log.iterations.size(); ++i)
    log.iterations[i].tflops_per_gpu = each ? tflops_per_gpu_[i] : mean;
}

void RateLinesReader::AddSkips(TrainingLog& log) const {
  std::vector<TrainingIteration>& rows = log.iterations;
  if (skipped_.empty() || log.of_epochs ||
      std::ranges::any_of(rows, [](const TrainingIteration& row) { return row.skipped.has_value(); }))
    return;
  for (TrainingIteration& row : rows) row.skipped = 0;
  const bool of_bars = log.program == kBars || log.program == "Hugging Face Trainer" ||
                       log.program == "a training script of diffusers";
  for (const SkippedStep& step : skipped_) {
    // Of the row whose lines, or steps of a bar, come next.
    size_t at = 0;
    if (step_lines_ > 0 && !of_bars) {
      at = static_cast<size_t>(step.step_lines) * rows.size() / static_cast<size_t>(step_lines_);
    } else if (step.done) {
      while (at < rows.size() && rows[at].iteration <= *step.done) ++at;
    }
    // No more than it has; where bars and messages are of two streams, what comes first is of the start.
    while (at + 1 < rows.size() && *rows[at].skipped >= rows[at].covers.value_or(1)) ++at;
    TrainingIteration& row = rows[std::min(at, rows.size() - 1)];
    row.skipped = *row.skipped + 1;
  }
}

}  // namespace dladvisor::training_log
