// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/epoch_clock.h"

#include <re2/re2.h>

#include <string>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/step_forms.h"

namespace dladvisor::training_log {
namespace {

// A difference of rounded times is off by less than one of their units: at most a twentieth of so many.
constexpr int64_t kUnitsOfRow = 20;
constexpr int64_t kSecondsOfDay = 86'400;
constexpr size_t kLeastRowsOfClock = 2;

}  // namespace

// "12:35:37  Epoch 002 | Avg Loss 18.9": of the lines of an epoch the first.
void EpochClockReader::LineWithClock(std::string_view line) {
  static const RE2 form(R"((?i)^[^=]{0,40}?\bepoch[ :#\[]{1,3}(\d{1,6})\b)");
  const auto clock = ClockOfLine(line);
  int64_t epoch = 0;
  if (clock && RE2::PartialMatch(line, form, &epoch) && epoch != epoch_)
    Take(epoch, *clock / 1'000'000'000, 1);
}

void EpochClockReader::Line(std::string_view line) {
  static const RE2 form(
      R"((?i)\bepoch[ :#]{1,2}(\d{1,6}) (?:completed|complete|finished|done) (?:@|at):? *(\d{1,2}):(\d\d)(?::(\d\d))? *([ap]m)?)");
  if (line.size() > 256 || line.find(':') == std::string_view::npos) return;
  int64_t epoch = 0, hour = 0, minute = 0;
  std::string seconds, half;
  if (!RE2::PartialMatch(line, form, &epoch, &hour, &minute, &seconds, &half)) return LineWithClock(line);
  if (!half.empty()) hour = hour % 12 + (Lower(half) == "pm" ? 12 : 0);
  Take(epoch, hour * 3600 + minute * 60 + Integer(seconds).value_or(0), seconds.empty() ? 60 : 1);
}

void EpochClockReader::Take(int64_t epoch, int64_t of_day, int64_t unit) {
  const bool follows = epoch_ && epoch == *epoch_ + 1;
  if (follows) seconds_ += (of_day - of_day_ + kSecondsOfDay) % kSecondsOfDay;
  if (!follows) {
    if (epoch_) ++attempt_;
    seconds_ = row_seconds_ = 0;
    row_epoch_ = epoch;
  }
  epoch_ = epoch;
  of_day_ = of_day;
  const int64_t took = seconds_ - row_seconds_;
  if (took < kUnitsOfRow * unit) return;
  TrainingIteration row;
  row.attempt = attempt_;
  row.iteration = epoch;
  row.covers = epoch - row_epoch_;
  row.elapsed_ns = static_cast<double>(took) * kNsPerSecond / static_cast<double>(epoch - row_epoch_);
  log_.iterations.push_back(row);
  row_epoch_ = epoch;
  row_seconds_ = seconds_;
}

TrainingLog EpochClockReader::Finish() {
  if (log_.iterations.size() < kLeastRowsOfClock) return {};
  // Starts without a row are none.
  int64_t attempt = -1, last = -1;
  for (TrainingIteration& row : log_.iterations) {
    if (row.attempt != last) ++attempt;
    last = std::exchange(row.attempt, attempt);
  }
  log_.program = kEpochs;
  log_.of_epochs = true;
  return std::move(log_);
}

}  // namespace dladvisor::training_log
