// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/general_meaning.h"

#include <algorithm>
#include <limits>

#include "src/importers/training_log/lines/growth.h"
#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

// What prints its first step again so long after it is another start.
constexpr int64_t kRestartOfLines = 10'000'000'000;
// Where its first line is of a later step, behind which a validation may print the step again.
constexpr int64_t kRestartOfLaterLines = 60'000'000'000;
// Numbers of steps that a line of another rank may be behind.
constexpr int64_t kRankBehind = 1;
// Lines that a process may print behind, until the one that is ahead prints its next.
constexpr size_t kLinesOvertaken = 3;
// Lines that go back, from which on it is no chance: one for so many of all.
constexpr size_t kLeastBack = 10, kMostBetweenBack = 8;
// A mean since the epoch began starts with its first step, that waits for the loader.
constexpr double kFalls = 1.5;
constexpr double kSecondsPerMs = 1e-3;
// By how much a time is longer than what is left allows, from which on it is no second.
constexpr double kContradicts = 5;
// A clock that falls begins again, and much lower; how many lines may fall otherwise, as those of another
// rank.
constexpr double kBeginsAgain = 0.5, kMostSlips = 0.02;
// Epochs that begin alike, from which on their first number is no chance.
constexpr size_t kLeastAlikeEpochs = 2;
// What counts anew before it is through, but for this part of its steps, is another start.
constexpr int64_t kPartsOfEpoch = 10;

// "[16/5011]", "[1616/5011]" of each epoch: a program that prints every hundredth step counts samples, in
// batches of 16. One that prints steps begins with 0, 1, or as many as lie between two lines, or says that
// they are steps.
int64_t SamplesOfStep(std::span<const GeneralStep> steps) {
  int64_t batch = 0;
  size_t epochs = 0;
  bool between = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    const GeneralStep& line = steps[i];
    if (!line.epoch || !line.steps || line.named) return 1;
    if (i == 0 || line.epoch != steps[i - 1].epoch) {
      if (batch == 0) batch = *line.step;
      if (batch <= 1 || *line.step % batch != 0) return 1;
      epochs += *line.step == batch;
    } else if (const int64_t distance = *line.step - *steps[i - 1].step;
               distance <= batch || distance % batch != 0) {
      return 1;
    } else {
      between = true;
    }
  }
  return between && epochs >= kLeastAlikeEpochs ? batch : 1;
}

// Whether lines of two processes or more stand among one another, so that numbers go back all the time.
bool DrawnByTurns(std::span<const GeneralStep> steps) {
  size_t back = 0;
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].epoch || steps[i].steps) return false;
    back += *steps[i].step < *steps[i - 1].step;
  }
  return back >= kLeastBack && kMostBetweenBack * back >= steps.size();
}

// Whether steps are counted anew in each epoch, all of which have as many.
bool CountsEpochBySteps(std::span<const GeneralStep> steps) {
  bool anew = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    const GeneralStep& line = steps[i];
    if (!line.epoch || line.steps.value_or(0) <= 0 || line.steps != steps[0].steps ||
        *line.step > *line.steps)
      return false;
    anew = anew || (i > 0 && *line.epoch > *steps[i - 1].epoch && *line.step < *steps[i - 1].step);
  }
  return anew;
}

// The lines' times in runs of which each goes on until they fall, by as many steps each.
std::vector<TimesOfRun> RunsOfTimes(std::span<const GeneralStep> steps,
                                    std::span<const TrainingIteration> rows) {
  std::vector<TimesOfRun> runs;
  std::optional<size_t> last;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].time || *rows[i].covers == 0) continue;
    const double time = *steps[i].time;
    const bool begins = !last || rows[i].attempt != rows[*last].attempt ||
                        (steps[i].epoch != steps[*last].epoch && time < kBeginsAgain * *steps[*last].time);
    // Lines of the same distance but for the last of an epoch, most often.
    if (begins)
      runs.push_back({time});
    else if (rows[i].covers == rows[*last].covers || runs.back().size() == 1)
      runs.back().push_back(runs.back().back() + time - *steps[*last].time);
    else
      runs.back().push_back(runs.back().back() + (time - *steps[*last].time) *
                                                     static_cast<double>(rows[*last].covers.value_or(1)) /
                                                     static_cast<double>(rows[i].covers.value_or(1)));
    last = i;
  }
  return runs;
}

// By what the epochs took, where lines tell it.
TimeMeaning MeaningByEpochs(std::span<const GeneralStep> steps, std::span<const GeneralEpoch> epochs,
                            std::span<const TrainingIteration> rows) {
  size_t as_step = 0, as_last = 0, begin = 0;
  for (const GeneralEpoch& epoch : epochs) {
    double if_step = 0, if_last = 0;
    for (size_t i = begin; i < epoch.steps; ++i) {
      if_step += steps[i].time.value_or(0) * static_cast<double>(rows[i].covers.value_or(0));
      if_last += steps[i].time.value_or(0);
    }
    begin = epoch.steps;
    const auto alike = [&](double time) {
      return time < epoch.seconds * kAlike && epoch.seconds < time * kAlike;
    };
    as_step += alike(if_step);
    as_last += alike(if_last);
  }
  if (as_step == as_last || 2 * std::max(as_step, as_last) <= epochs.size()) return TimeMeaning::kNone;
  return as_step > as_last ? TimeMeaning::kStep : TimeMeaning::kSinceLast;
}

}  // namespace

std::vector<TrainingIteration> Numbered(std::span<const GeneralStep> steps) {
  std::vector<TrainingIteration> rows;
  int64_t epoch = 0, step = 0, per_epoch = 0, first_of_attempt = 0;
  const int64_t samples = SamplesOfStep(steps);
  const bool by_turns = DrawnByTurns(steps), by_epoch = CountsEpochBySteps(steps);
  bool first = true;
  for (const GeneralStep& line : steps) {
    TrainingIteration row;
    const int64_t now = *line.step / samples, of = line.epoch.value_or(epoch);
    // Of another process, whose lines stand between those of the one that is ahead.
    const auto overtaken = [&](size_t next) {
      for (size_t i = next; i < std::min(next + kLinesOvertaken, steps.size()); ++i)
        if (*steps[i].step / samples > step) return true;
      return next >= steps.size();
    };
    const bool behind =
        !first && ((of == epoch && now < step && step - now <= kRankBehind) ||
                   (by_turns && now < step && overtaken(rows.size() + 1)) ||
                   (line.epoch && of == epoch - 1 && step <= kRankBehind && now > step + kRankBehind));
    // A process that died behind its first line, and the next one's; of another rank the line follows at
    // once.
    const bool restarts =
        !first && now == step && (now <= 1 || now == first_of_attempt) && line.time_ns &&
        rows.back().time_ns && *line.time_ns > *rows.back().time_ns &&
        *line.time_ns - *rows.back().time_ns > (now <= 1 ? kRestartOfLines : kRestartOfLaterLines);
    const bool again = behind || (!first && now == step && of == epoch && !restarts);
    if (first) {
      row.iteration = std::max<int64_t>(now, 1);
      row.covers = row.iteration;
    } else {
      const TrainingIteration& last = rows.back();
      row.attempt = last.attempt;
      if (again) {
        row.covers = 0;
      } else if (of == epoch && now > step) {
        row.covers = now - step;
      } else if (of > epoch ||
                 (!line.epoch && now < step && line.steps && per_epoch == *line.steps &&
                  per_epoch - step <= std::max(last.covers.value_or(1), per_epoch / kPartsOfEpoch))) {
        // An epoch may start at 0 or 1, or go on counting; of epochs without a line all steps count.
        const int64_t between = by_epoch ? (of - epoch - 1) * per_epoch : 0;
        row.covers = now > step && !by_epoch
                         ? now - step
                         : std::max<int64_t>(1, now + (per_epoch > step ? per_epoch - step : 0) + between);
      } else {
        ++row.attempt;
        row.covers = std::max<int64_t>(now, 1);
      }
      row.iteration = row.attempt == last.attempt ? last.iteration + *row.covers : *row.covers;
    }
    if (first || row.attempt != rows.back().attempt) first_of_attempt = now;
    first = false;
    if (!behind) {
      epoch = of;
      step = now;
      per_epoch = line.steps.value_or(0) / samples;
    }
    row.time_ns = line.time_ns;
    rows.push_back(row);
  }
  return rows;
}

TimeMeaning MeaningOfTime(std::span<const GeneralStep> steps, std::span<const GeneralEpoch> times_of_epochs) {
  const std::vector<TrainingIteration> rows = Numbered(steps);
  size_t timed = 0, beside = 0, means = 0, falls = 0, grows = 0, slips = 0, follows = 0, as_step = 0,
         as_last = 0, stamped = 0, single = 0, epochs = 0, rises = 0;
  // Since the line from which the lines' times are looked at, by either meaning.
  std::optional<int64_t> anchor;
  double if_step = 0, if_last = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const GeneralStep& line = steps[i];
    if (i == 0 || rows[i].attempt != rows[i - 1].attempt) anchor.reset();
    if (!line.time) continue;
    ++timed;
    beside += line.has_mean || line.input.has_value();
    means += line.has_mean;
    if (!anchor) {
      anchor = line.time_ns;
      if_step = if_last = 0;
    } else if (*rows[i].covers > 0) {
      if_step += *line.time * static_cast<double>(*rows[i].covers);
      if_last += *line.time;
    }
    if (i == 0 || rows[i].attempt != rows[i - 1].attempt || !steps[i - 1].time || *rows[i].covers == 0)
      continue;
    ++follows;
    grows += *line.time > *steps[i - 1].time;
    slips += *line.time<*steps[i - 1].time&& * line.time> kBeginsAgain * *steps[i - 1].time;
    const bool starts = line.epoch != steps[i - 1].epoch;
    epochs += starts;
    rises += starts && *line.time > kFalls * *steps[i - 1].time;
    falls += line.epoch == steps[i - 1].epoch ? *line.time <= *steps[i - 1].time
                                              : *line.time > kFalls * *steps[i - 1].time;
    single += *rows[i].covers == 1;
    if (!line.time_ns || !anchor || *line.time_ns <= *anchor) continue;
    const double between = static_cast<double>(*line.time_ns - *anchor) / kNsPerSecond;
    if (between < kLeastSecondsBetween && *line.time_ns % 1'000'000'000 == 0) continue;
    ++stamped;
    const auto alike = [&](double time) { return time < between * kAlike && between < time * kAlike; };
    as_step += alike(if_step);
    as_last += alike(if_last);
    anchor = line.time_ns;
    if_step = if_last = 0;
  }
  if (timed < kLeastLines || follows == 0) return TimeMeaning::kNone;
  const auto most = [](size_t part, size_t whole) {
    return static_cast<double>(part) >= kMostLines * static_cast<double>(whole);
  };
  if (most(means, timed)) return TimeMeaning::kStep;
  // Of the run or of each epoch, whose first line has the least.
  double least = std::numeric_limits<double>::max(), greatest = 0;
  for (const GeneralStep& line : steps) {
    if (!line.time) continue;
    least = std::min(least, *line.time);
    greatest = std::max(greatest, *line.time);
  }
  const bool mostly_grows = most(grows, follows) && greatest > 2 * least && grows < follows &&
                            static_cast<double>(slips) <= kMostSlips * static_cast<double>(follows);
  if (follows >= kLeastLines && (mostly_grows || GrowsAsClock(RunsOfTimes(steps, rows))))
    return TimeMeaning::kSinceStart;
  if (most(beside, timed)) return TimeMeaning::kStep;
  // A time that is always the same falls nowhere.
  if (most(falls, follows) && follows >= kLeastLines && epochs > 0 && 2 * rises > epochs)
    return TimeMeaning::kMeanOfEpoch;
  if (stamped >= kLeastLines && as_last * 2 > stamped && as_last >= as_step) return TimeMeaning::kSinceLast;
  if (stamped >= kLeastLines) return as_step * 2 > stamped ? TimeMeaning::kStep : TimeMeaning::kNone;
  if (const TimeMeaning meaning = MeaningByEpochs(steps, times_of_epochs, rows);
      meaning != TimeMeaning::kNone)
    return meaning;
  return most(single, follows) ? TimeMeaning::kSinceLast : TimeMeaning::kNone;
}

void JudgeByTimeLeft(std::vector<GeneralStep>& steps) {
  const std::vector<TrainingIteration> rows = Numbered(steps);
  size_t told = 0, too_long = 0, as_ms = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const GeneralStep& line = steps[i];
    if (!line.bare || !line.time || !line.left || !line.steps || *line.steps <= *line.step) continue;
    const double each = *line.left / static_cast<double>(*line.steps - *line.step);
    // By the shorter meaning; more epochs than this one only make what is left more.
    const double own = *line.time / static_cast<double>(std::max<int64_t>(1, rows[i].covers.value_or(1)));
    const auto alike = [&](double ms) {
      return ms * kSecondsPerMs < each * kAlike && each < ms * kSecondsPerMs * kAlike;
    };
    ++told;
    too_long += own > kContradicts * each;
    as_ms += alike(own) || alike(*line.time);
  }
  const auto most = [&](size_t part) {
    return told >= kLeastLines && static_cast<double>(part) >= kMostLines * static_cast<double>(told);
  };
  if (!most(too_long)) return;
  for (GeneralStep& line : steps) {
    if (!line.bare || !line.time) continue;
    if (!most(as_ms)) {
      line.time.reset();
      continue;
    }
    *line.time *= kSecondsPerMs;
    if (line.bare_input && line.input) *line.input *= kSecondsPerMs;
  }
}

}  // namespace dladvisor::training_log
