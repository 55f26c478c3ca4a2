// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/epoch_bars.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/step_forms.h"

namespace dladvisor::training_log {
namespace {

// A difference of two times in whole seconds is off by less than one: at most a twentieth of so many.
constexpr int64_t kSecondsOfRow = 20;
// An epoch has no second rounded time: its bar begins with 0.
constexpr int64_t kSecondsOfEpoch = 10;
// Of an epoch by its bar's rate: what it takes at least, and how far from the clock's whole seconds.
constexpr double kLeastSecondsByRate = 0.5, kOffTheClock = 1.5;
// Rows below which another reader knows more.
constexpr size_t kLeastRowsOfBars = 3;
constexpr size_t kLongestHeadingOfBars = 64;

}  // namespace

// "Epoch 3", alone on its line, is the title of bars without one, until an evaluation begins.
void EpochBarsReader::Heading(std::string_view line) {
  static const RE2 epoch(R"((?i)^\W*epoch[ :#=\[]{1,4}(\d{1,9})(?: *(?:/|of) *\d+)?\W*$)"),
      other("(?i)^\\W*(?:val|valid\\w*|eval\\w*|test\\w*)\\b");
  if (line.size() > kLongestHeadingOfBars) return;
  int64_t number = 0;
  if (RE2::PartialMatch(line, epoch, &number)) {
    heading_ = number;
    heads_ = true;
  } else if (RE2::PartialMatch(line, other)) {
    heading_.reset();
  }
}

void EpochBarsReader::LightningEpoch(std::string_view line) {
  static const RE2 epoch(R"(^Epoch (\d{1,6}), global step (\d{1,12}):? )");
  Epoch row;
  if (line.starts_with("Epoch ") && RE2::PartialMatch(line, epoch, &row.number, &row.steps))
    epochs_.push_back(row);
}

void EpochBarsReader::Line(std::string_view line, int64_t number) {
  number_ = number;
  if (line.find("%|") == std::string_view::npos) {
    LightningEpoch(line);
    return Heading(line);
  }
  if (epoch_ && line.find("100%|") != std::string_view::npos) evaluations_.Bar(line, log_);
  const bool named = line.find("poch") != std::string_view::npos;
  if (!named && !heading_) return;
  static const RE2 bar(
      R"((?i)\bepoch:? *[\[(]?(\d+)(?: */ *\d+)?[\])]?[^|%/\w][^|%/]{0,24}?\d+%\|[^|]*\| *(\d{1,12})/(\d{1,12}) \[(?:(\d{1,6}):)?(\d{1,6}):(\d{2})<[^,\]]*, *(\d+\.?\d*)?[^\],]*?(it/s|s/it))"),
      other("(?i)\\b(?:val|valid\\w*|eval\\w*|test\\w*)\\b"),
      untitled(
          R"((?:^|\])()\s*\d+%\|[^|]*\| *(\d{1,12})/(\d{1,12}) \[(?:(\d{1,6}):)?(\d{1,6}):(\d{2})<[^,\]]*, *(\d+\.?\d*)?[^\],]*?(it/s|s/it))");
  re2::StringPiece rest = line, before = line;
  int64_t epoch = 0, done = 0, total = 0, minutes = 0, seconds = 0;
  std::string title, hours, rate, unit;
  while (RE2::FindAndConsume(&rest, named ? bar : untitled, &title, &done, &total, &hours, &minutes, &seconds,
                             &rate, &unit)) {
    epoch = named ? Integer(title).value_or(0) : *heading_;
    const std::string_view head = std::string_view(std::exchange(before, rest));
    if (RE2::PartialMatch(head.substr(0, head.find("%|")), other) || done > total) continue;
    const double printed = Number(rate).value_or(0);
    Take({epoch, done, total, Integer(hours).value_or(0) * 3600 + minutes * 60 + seconds,
          unit == "s/it" || printed <= 0 ? printed : 1 / printed},
         named);
  }
}

void EpochBarsReader::Take(const Bar& bar, bool named) {
  const Bar before = std::exchange(seen_, bar);
  const bool begins =
      before.epoch != bar.epoch || before.total != bar.total || bar.done < before.done || (!named && heads_);
  if (begins) {
    // A training that ends in the middle of an epoch may start with it again.
    const bool ended = epoch_ == bar.epoch && last_done_ == total_;
    trains_ = (named || heads_) && !ended;
    heads_ = false;
    if (trains_) {
      const bool again = epoch_ && bar.epoch <= *epoch_;
      if (epoch_) Add(last_done_, last_seconds_, last_each_s_);
      before_ = again ? 0 : before_ + (epoch_ ? total_ : 0);
      epoch_ = bar.epoch;
      total_ = bar.total;
      done_ = seconds_ = 0;
    }
  }
  if (!trains_) return;
  last_done_ = bar.done;
  last_seconds_ = bar.seconds;
  last_each_s_ = bar.each_s;
  if (bar.seconds - seconds_ >= kSecondsOfRow) Add(bar.done, bar.seconds);
}

// Of an epoch shorter than its whole seconds tell, the rate of the bar as it closes, which is of all of its
// steps where that agrees with the clock.
void EpochBarsReader::Add(int64_t done, int64_t seconds, double each_s) {
  // The first step waits for the loader: it begins the first row.
  const bool whole = done_ == 0 && done == total_;
  if (done <= done_) return;
  const double by_rate = each_s * static_cast<double>(done);
  const bool by_clock = seconds - seconds_ >= (whole ? kSecondsOfEpoch : kSecondsOfRow);
  if (!by_clock && !(whole && by_rate >= kLeastSecondsByRate &&
                     std::abs(by_rate - static_cast<double>(seconds)) <= kOffTheClock))
    return;
  TrainingIteration row;
  row.line = number_;
  row.iteration = before_ + done;
  if (!log_.iterations.empty()) {
    const TrainingIteration& last = log_.iterations.back();
    row.attempt = last.attempt + (row.iteration <= last.iteration);
  }
  row.covers = done - done_;
  row.elapsed_ns =
      by_clock ? static_cast<double>(seconds - seconds_) * kNsPerSecond / static_cast<double>(done - done_)
               : each_s * kNsPerSecond;
  log_.iterations.push_back(row);
  done_ = done;
  seconds_ = seconds;
}

// The epoch whose bar became full, where each that is named has as many steps. The others' times are not
// known.
TrainingLog EpochBarsReader::FinishLightning() const {
  const auto alike = [&](const Epoch& epoch) { return epoch.steps == (epoch.number + 1) * total_; };
  const auto timed = std::ranges::find(epochs_, epoch_.value_or(-1), &Epoch::number);
  if (timed == epochs_.end() || epochs_.size() < kLeastRowsOfBars || total_ == 0 || last_done_ != total_ ||
      last_seconds_ < kSecondsOfEpoch || !std::ranges::all_of(epochs_, alike))
    return {};
  TrainingLog log;
  TrainingIteration row;
  row.iteration = timed->steps;
  row.covers = total_;
  row.elapsed_ns = static_cast<double>(last_seconds_) * kNsPerSecond / static_cast<double>(total_);
  log.iterations.push_back(row);
  log.program = "Lightning";
  return log;
}

TrainingLog EpochBarsReader::Finish() {
  evaluations_.LeaveOutTest(log_);
  if (epoch_) Add(last_done_, last_seconds_, last_each_s_);
  if (log_.iterations.size() < kLeastRowsOfBars) return FinishLightning();
  log_.program = kBars;
  return std::move(log_);
}

}  // namespace dladvisor::training_log
