// SPDX-License-Identifier: Apache-2.0
// How lines of steps of programs that are not known are numbered, and what the time that they print is of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

// What a line holds. Times in seconds.
struct GeneralStep {
  std::optional<int64_t> epoch, step, steps;
  std::optional<int64_t> time_ns;  // when it was written
  std::optional<double> step_time, time, since_last, input, since_start, timer;
  std::optional<double> forward, backward, optimizer, compute;  // parts of step_time
  bool bare = false, bare_input = false;                        // that the time, that of loading has no unit
  std::optional<double> left;        // until all steps are done, as the line has it
  bool has_mean = false;             // that the time has one beside it: it is of one step
  bool rounded = false;              // that since_start has whole seconds
  std::optional<double> free_bytes;  // of a GPU's memory
  std::optional<double> samples_per_second, tokens_per_second, mfu, loss, learning_rate;
  bool nan = false;     // that its loss is not a number
  bool trains = false;  // has a value that only trainings print
  bool sums = false;    // that its parts are of the steps since the line before, as fairseq2 prints them
  bool named = false;   // that a word before the number says that it counts steps
};
// Fewer lines of steps show no course.
inline constexpr size_t kLeastLines = 5;
// Share of the lines that must agree on what their time is of.
inline constexpr double kMostLines = 0.8;
// How far a printed time and the time between lines may be apart, to be the same.
inline constexpr double kAlike = 1.5;
// A difference of two times in whole seconds is off by less than one: at most a twentieth of so many.
inline constexpr double kLeastSecondsBetween = 20;
enum class TimeMeaning : uint8_t { kNone, kStep, kSinceLast, kSinceStart, kMeanOfEpoch };

// The seconds of the epoch that the lines before `steps` end, as a line of its own tells them.
struct GeneralEpoch {
  size_t steps = 0;
  double seconds = 0;
};

// Rows of one training each, numbered over its epochs; of lines of one step the first. Of each row `covers`
// holds the steps since the line before.
std::vector<TrainingIteration> Numbered(std::span<const GeneralStep> steps);

// By what the lines' own times say of it; else a time beside one of loading, or with a mean, is of a step,
// one that grows with each line is of the run, one that falls from each epoch's first line on is the epoch's
// mean, and any other is of the steps since the last line where each step has one.
TimeMeaning MeaningOfTime(std::span<const GeneralStep> steps, std::span<const GeneralEpoch> times_of_epochs);

// Times without a unit that what the lines say to be left makes milliseconds, as seconds; those that it
// contradicts are left out.
void JudgeByTimeLeft(std::vector<GeneralStep>& steps);

}  // namespace dladvisor::training_log
