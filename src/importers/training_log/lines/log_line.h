// SPDX-License-Identifier: Apache-2.0
// Parts of lines of training logs: numbers, "name: value" pairs, times; what lines of iterations cover.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/trim.h"
#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

// Between lines; dates of which the day is taken for the month are further apart, from one day to the next.
inline constexpr int64_t kLongestBetween = 27 * int64_t{86'400} * 1'000'000'000;

inline constexpr double kNsPerSecond = 1e9;

// In which a line has its date.
inline constexpr size_t kStartOfLine = 64;

std::string Lower(std::string_view text);

// The number that the text begins with, after blanks; nothing for one that is not finite.
std::optional<double> Number(std::string_view text);
std::optional<int64_t> Integer(std::string_view text);

// Of "1:02:03" or "02:03", or "2m 3".
std::optional<double> SecondsOfClock(std::string_view clock);

// Of a step's number: no training counts as far as 2^40.
std::optional<int64_t> CountedSteps(std::string_view text);

// Calls `pair` with name and value of every "name: value" between bars.
void ForEachPair(std::string_view text,
                 const std::function<void(std::string_view name, std::string_view value)>& pair);

// The last date and time in the text, "2024-05-01 12:00:00.123" or "24-05-01 12:00:00.123", else with
// slashes, in ns since 1970 without a time zone.
std::optional<int64_t> LastTime(std::string_view text);

// "2000-03-13 15:57:37 text" of a line "text [13/03 15:57:37]", as what is derived from 3D Gaussian Splatting
// prints day and month behind each line: the year is not known. Empty for other lines.
std::string WithDateFirst(std::string_view line);

// "[18:26:36] " with which a line begins, of a day that is not known.
std::optional<int64_t> ClockOfLine(std::string_view line);

// The text without the escape sequences that colour it on a terminal.
std::string WithoutColours(std::string_view text);

// What happens between steps, in the words of programs that are known.
std::optional<TrainingEventKind> BetweenSteps(std::string_view line);

// The same by its own line in any words: a loss or a score of a validation, a file that is saved.
std::optional<TrainingEventKind> HappensBetween(std::string_view line);

// Takes what a line tells, which ends it: what it took is since the line before it, where both have dates.
void AddEvent(TrainingEvent event, std::string_view line_before, std::string_view line,
              std::vector<TrainingEvent>& events);

// What each line covers: up to `interval` iterations, else the distance that is most common; no more than it
// says already.
void SetCovers(std::vector<TrainingIteration>& rows, std::optional<int64_t> interval);

// Of lines that print the time of one iteration alone and cover several: one that is far above the others, as
// where the program evaluates, is not that of those beside it.
void SpreadSingleTimes(std::vector<TrainingIteration>& rows);

// The rate of lines that become one row, of which each step has as much to do.
class MeanRate {
 public:
  void Add(std::optional<double> rate, double steps) {
    if (!rate) return;
    steps_ += steps;
    time_ += steps / *rate;
  }
  std::optional<double> Take() {
    const double steps = std::exchange(steps_, 0), time = std::exchange(time_, 0);
    return time > 0 ? std::optional(steps / time) : std::nullopt;
  }

 private:
  double steps_ = 0, time_ = 0;
};

}  // namespace dladvisor::training_log
