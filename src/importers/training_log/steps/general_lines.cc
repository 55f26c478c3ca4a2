// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/general_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "src/importers/training_log/lines/line_values.h"
#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/epoch_times.h"
#include "src/importers/training_log/steps/step_forms.h"
#include "src/importers/training_log/steps/step_words.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLine = 2048, kMostSteps = 2'000'000;
// Fewer rows show no course.
constexpr size_t kLeastRows = 2;
constexpr size_t kLongestHeading = 64;
// By how much times since a start must have grown, to be told from times of epochs.
constexpr double kMostlySince = 3;
// Times between lines of steps, from which on they are no chance.
constexpr size_t kLeastIntervals = 3;

}  // namespace

std::optional<GeneralLinesReader::Step> GeneralLinesReader::Read(std::string_view line) const {
  Step step;
  const std::vector<Value> values = ValuesOf(line);
  step.nan = step.trains = LosesItself(line);
  if (values.size() < (step.nan ? 1 : 2)) return std::nullopt;
  const bool batch_counts = std::ranges::none_of(values, IsStep);
  // "iteration:74 step:549/1687": what counts no total is the round of the other.
  const auto counted = [](const Value& value) { return IsStep(value) && value.total; };
  const auto round = std::ranges::find_if(values, IsStep);
  const bool rounds = round != values.end() && !round->total && std::ranges::any_of(values, counted) &&
                      std::ranges::none_of(values, IsEpoch);
  // "Train:    1/20 (  5%) [  49/1935 (  3%)]", of OpenPCDet: epochs of all before steps of the epoch.
  const auto counts_all = [](const Value& value) { return value.total && Counts(value); };
  const auto trains = std::ranges::find_if(
      values, [&](const Value& value) { return value.name == "train" && counts_all(value); });
  const bool epochs_first =
      trains != values.end() && std::ranges::any_of(trains + 1, values.end(), [&](const Value& value) {
        return value.name.empty() && counts_all(value);
      });
  for (const Value& value : values) {
    const std::string& name = value.name;
    const double number = value.number;
    const Unit unit = value.unit;
    const double scale = value.scale;
    const bool time = unit == Unit::kSeconds || unit == Unit::kNone;
    if (unit == Unit::kSeconds && !value.whole && Ends(name, {"forward", "fwd", "forward time"})) {
      step.forward = number * scale;
    } else if (unit == Unit::kSeconds && !value.whole && Ends(name, {"backward", "bwd", "backward time"})) {
      step.backward = number * scale;
    } else if (unit == Unit::kSeconds && !value.whole &&
               Ends(name, {"optimizer", "opt", "optim", "optimizer time", "optimizer step", "opt step"})) {
      step.optimizer = number * scale;
    } else if (unit == Unit::kSeconds && (!value.whole || scale < 1) &&
               Ends(name, {"compute", "compute time", "train", "forward backward", "fwd bwd"})) {
      step.compute = number * scale;
    } else if (!step.epoch &&
               (IsEpoch(value) || (rounds && &value == &*round) || (epochs_first && &value == &*trains))) {
      step.epoch = static_cast<int64_t>(number);
    } else if (!step.step &&
               (IsStep(value) || (batch_counts && IsBatch(value)) ||
                (value.total && Counts(value) &&
                 (name == "train" || (name.empty() && (step.epoch || &value == &values.front())))))) {
      step.step = static_cast<int64_t>(number);
      step.steps = value.total;
      step.named = IsStep(value) || IsBatch(value);
      // TensorFlow's "loss = 1.2, step = 200 (24.1 sec)".
      if (value.mean && line.find(" sec)") != std::string_view::npos) step.since_last = value.mean;
    } else if (unit == Unit::kPerSecond && number > 0) {
      step.step_time = 1 / number;
    } else if (unit == Unit::kSecondsEach && number > 0) {
      step.step_time = number * scale;
    } else if (unit == Unit::kSamples && number > 0) {
      step.samples_per_second = number;
    } else if (const auto tokens = TokensPerSecond(value)) {
      step.tokens_per_second = tokens;
    } else if (unit == Unit::kNone && number > 0 && IsRateInWords(name, "tok(?:en)?s?")) {
      step.tokens_per_second = number;
    } else if (unit == Unit::kNone && number > 0 &&
               IsRateInWords(name, "(?:sample|image|img|example|sequence|frame|utt)s?")) {
      step.samples_per_second = number;
    } else if (unit == Unit::kNone && number > 0 &&
               IsRateInWords(name, "(?:step|it|iter|iteration|batche?)s?")) {
      step.step_time = 1 / number;
    } else if (time && Ends(name, {"iter time", "step time", "batch time", "iteration time", "batch cost",
                                   "avg batch cost", "time per step", "time per iter", "time per iteration",
                                   "time per batch", "time iter", "time step", "sec per step", "s per step",
                                   "sec iter", "sec step", "s step", "s iter"})) {
      if (number > 0) step.step_time = number * scale;
    } else if (step.step && unit == Unit::kSeconds && !value.whole &&
               Ends(name, {"step", "iter", "iteration", "batch"})) {
      // "Step 0040 | Loss 2.1 | Step 206.9ms", and not "Step: 1s9ms", of a bar's last batch.
      if (number > 0) step.step_time = number * scale;
    } else if (time && name == "timer" && !value.whole) {
      if (number > 0) step.timer = number * scale;
    } else if (unit == Unit::kSeconds && scale < 1 && name == "dt") {
      // Of the last step, as nanoGPT and what is built on it print it.
      if (number > 0) step.step_time = number * scale;
    } else if (unit == Unit::kNone && Ends(name, {"ms batch", "ms step", "ms iter", "ms it", "ms per step",
                                                  "ms per iter", "ms per iteration", "ms per batch"})) {
      if (number > 0) step.step_time = number * 1e-3;
    } else if (time && (Ends(name, {"data time",       "data",        "reader cost",     "avg reader cost",
                                    "data loading",    "data load",   "load time",       "loading time",
                                    "loader time",     "fetch time",  "data load time",  "data loading time",
                                    "data wait",       "fetch",       "data iter",       "data per iter",
                                    "data step",       "data batch",  "reader",          "data cost",
                                    "avg data cost",   "loader wait", "dataloader wait", "dataloader time",
                                    "dataloading time"}) ||
                        (unit == Unit::kSeconds && Ends(name, {"wait", "wait time", "load"})))) {
      if (number >= 0 && !(value.whole && unit == Unit::kNone)) step.input = number * scale;
      step.bare_input = unit == Unit::kNone;
    } else if (const auto instant = InstantOf(value)) {
      step.since_start = instant;
      step.rounded = value.whole && *instant == number;
    } else if (value.clock) {
      step.since_start = number;
      step.rounded = true;
    } else if (time &&
               (Ends(name, {"elapsed", "elapsed time", "time elapsed", "total time", "used time",
                            "total used time", "time so far", "wall time", "total elapsed", "runtime"}))) {
      step.since_start = number * scale;
      step.rounded = value.whole;
    } else if (unit == Unit::kSeconds && name == "after") {
      // "Step 300: loss = 0.41 (after 111.2 s)"
      step.since_start = number * scale;
      step.rounded = value.whole;
    } else if (time && Ends(name, {"gpu time"}) && step.input) {
      // VietOCR's, both of the steps since the last line.
      step.since_last = number * scale + *step.input;
    } else if (time && !step.time &&
               (Ends(name, {"time", "dt", "took", "time cost", "cost", "duration"}) ||
                (unit == Unit::kSeconds && name == "total"))) {
      if (number > 0 && !(value.whole && unit == Unit::kNone && number > 1e6)) step.time = number * scale;
      step.bare = unit == Unit::kNone;
      step.has_mean = value.mean.has_value();
    } else if (name.empty() && unit == Unit::kSeconds && scale < 1 && !step.time && number > 0) {
      // "step 3 | loss 2.1 | 80.1ms | 51200 tok/s": nobody tells the time since a start so.
      step.time = number * scale;
    } else if (name.empty() && unit == Unit::kSeconds && &value == &values.back()) {
      step.since_start = number * scale;
      step.rounded = value.whole;
    } else if (name.find("loss") != std::string::npos || IsOneOf(name, {"ppl", "xent", "perplexity"})) {
      if (!step.loss) step.loss = number;
      step.trains = true;
    } else if (Ends(name, {"lr", "learning rate"})) {
      step.learning_rate = number;
      step.trains = true;
    } else if (name == "gb free") {
      step.free_bytes = number * 1073741824;
    } else if (Ends(name, {"acc", "accuracy", "auc", "grad norm", "grad", "gnorm", "train acc"})) {
      step.trains = true;
    }
  }
  if (!step.step) return std::nullopt;
  // Only trainings have both.
  step.trains = step.trains || (step.forward && step.backward);
  // "fwd 0.11s bwd 0.21s data 0.4s opt 0.06s": what it takes by its parts, where no time is of the whole.
  const bool whole = step.step_time || step.time || step.since_last || step.since_start;
  const auto passes = step.forward && step.backward ? std::optional(*step.forward + *step.backward)
                      : step.input                  ? step.compute
                                                    : std::nullopt;
  if (passes && !whole) step.step_time = *passes + step.optimizer.value_or(0) + step.input.value_or(0);
  if (step.nan) step.loss.reset();
  static const RE2 left(R"re((?i)\beta\W{1,3}(\d{1,4}:\d\d:\d\d)\b)re");
  std::string clock;
  if (step.time && step.bare && RE2::PartialMatch(line, left, &clock)) step.left = SecondsOfClock(clock);
  static const RE2 mfu(R"re((?i)\bmfu[ :=]{1,3}(\d+(?:\.\d+)?) *%)re");
  if (double percent = 0; RE2::PartialMatch(line, mfu, &percent)) step.mfu = percent / 100;
  // "GAN training: time elapsed = 51.26 [s] | epoch=1 | batch= [51/3503]"
  static const RE2 training(R"re((?i)\btraining\b)re");
  step.trains = step.trains || (step.epoch && (step.since_start || step.time || step.step_time) &&
                                RE2::PartialMatch(line, training));
  step.sums = line.find("Train Metrics (step") != std::string_view::npos;
  step.time_ns = LastTime(line);
  return step;
}

bool GeneralLinesReader::ReadStep(std::string_view line, bool of_training) {
  const bool known = !events_.empty() && events_.back().before == steps_.size();
  if (evaluations_.Bar(line, steps_.size(), known)) Evaluation();
  const auto timer = std::exchange(timer_, {});
  auto event = steps_.empty() ? std::nullopt : HappensBetween(line);
  const auto happened = [&](bool in_step) {
    if (!event) return false;
    evaluations_.Line(line);
    // Of a line of a step's own it is not known how long it took.
    AddEvent({steps_.size() - (in_step ? 1 : 0), *event, {}}, in_step ? std::string_view() : last_line_, line,
             events_);
    in_steps_ += in_step;
    return false;
  };
  std::string plain;
  if (line.find('\x1b') != std::string_view::npos && line.size() <= kLongestLine)
    line = plain = WithoutColours(line);
  if (line.size() > kLongestLine || line.size() < 12 || steps_.size() >= kMostSteps) return happened(false);
  // A bar has its own reader.
  if (line.find("%|") != std::string_view::npos || line.find_first_of("0123456789") == std::string_view::npos)
    return happened(false);
  // Words of what only trainings print.
  const auto has = [&](const char* words) { return line.find(words) != std::string_view::npos; };
  if (!of_training && !has("oss") && !has("lr") && !has("LR") && !has("cc") && !has("CC") && !has("ppl") &&
      !has("grad") && !has("bwd") && !has("ackward") && !(has("rain") && (has("ime") || has("lapsed"))))
    return happened(false);
  static const RE2 counter(
      R"re((?i)\b(?:step|iter|iteration|batch(?:e)?|update|it)s?\b|^\W{0,3}\d+ ?/ ?\d+[\],:|]|\[train \d+ ?/|batch_i|_step|poch\W{0,3}\d+(?: ?/ ?\d+)?\W{1,8}\d+ ?/)re");
  if (!RE2::PartialMatch(line, counter)) return happened(false);
  if (NamesEvaluation(line)) {
    if (!steps_.empty() && !event) event = TrainingEventKind::kEvaluation;
    return happened(false);
  }
  auto step = Read(line);
  if (!step || !(step->trains || of_training)) return happened(false);
  // Where one stands before the first step, SSD prints that of a step before its number: at the end of a line
  // it is of the next.
  if (steps_.empty()) timer_leads_ = timer.has_value();
  if (timer_leads_) timer_ = std::exchange(step->timer, {});
  if (!step->time && !step->step_time) step->step_time = timer ? timer : step->timer;
  if (const auto clock = step->time_ns ? std::nullopt : ClockOfLine(line)) {
    constexpr int64_t kDay = int64_t{86'400} * 1'000'000'000;
    if (last_clock_ && *clock < *last_clock_ - kDay / 2) days_ns_ += kDay;
    last_clock_ = clock;
    step->time_ns = days_ns_ + *clock;
  }
  steps_.push_back(*std::move(step));
  TimeSeveral(line);
  happened(true);
  return true;
}

// Of the steps up to the line's, on a line of its own or of a step.
void GeneralLinesReader::TimeSeveral(std::string_view line) {
  if (steps_.empty() || steps_.back().step_time) return;
  if (const auto each = TimeOfSeveralSteps(line)) steps_.back().step_time = each;
}

void GeneralLinesReader::ReadTimes(std::string_view line) {
  if (line.size() > kLongestLine) return;
  // Of one iteration, before the line of its number: "timer: 0.1234 sec.".
  static const RE2 timer(R"re((?i)^\W{0,4}timer\W{1,3}(\d+\.\d+) *(?:s|sec|seconds)?\.?\s*$)re");
  double seconds = 0;
  if (line.find("imer") != std::string_view::npos && RE2::PartialMatch(line, timer, &seconds) && seconds > 0)
    timer_ = seconds;
  // On a line of its own, with the epochs: "Time elapsed: 4.57 min".
  static const RE2 elapsed(
      R"re((?i)^\W*(?:time elapsed|elapsed time|elapsed)\W{1,3}(\d+\.\d+) *(s|sec|min|h)[a-z]*\W*$)re");
  std::string unit;
  if (!steps_.empty() && line.find("lapsed") != std::string_view::npos &&
      RE2::PartialMatch(line, elapsed, &seconds, &unit))
    elapsed_.push_back({steps_.size() - 1, seconds * (unit[0] == 'm' ? 60 : unit[0] == 'h' ? 3600 : 1)});
  // As Python writes a difference of two times.
  static const RE2 difference(R"re(^\s*(\d{1,3}:\d\d:\d\d)(\.\d{6})\s*$)re");
  std::string clock, fraction;
  if (!steps_.empty() && after_step_ == 0 && line.size() < kLongestHeading &&
      RE2::PartialMatch(line, difference, &clock, &fraction)) {
    intervals_.push_back({steps_.size(), SecondsOfClock(clock).value_or(0) + Number(fraction).value_or(0)});
    alone_ = true;
  }
  TimeSeveral(line);
  if (steps_.empty() || (!epochs_.empty() && epochs_.back().steps == steps_.size())) return;
  if (const auto whole = TimeOfWholeEpoch(line)) epochs_.push_back({steps_.size(), *whole});
}

// Times that grow from line to line are since the start, and not of an epoch each.
void GeneralLinesReader::TakeElapsed() {
  if (elapsed_.size() < kLeastLines || elapsed_.back().seconds < kMostlySince * elapsed_.front().seconds ||
      !std::ranges::is_sorted(elapsed_, {}, &Epoch::seconds))
    return;
  for (const Epoch& since : elapsed_) {
    Step& line = steps_[since.steps];
    if (line.since_start || line.time || line.step_time) continue;
    line.since_start = since.seconds;
    line.rounded = true;
  }
}

// Each after as many steps as the one before, and not growing from each to the next: of the steps between. A
// program that evaluates there says what it found, on lines of its own.
void GeneralLinesReader::TakeIntervals() {
  if (intervals_.size() < kLeastIntervals || std::ranges::is_sorted(intervals_, {}, &Epoch::seconds)) return;
  const auto at = [&](size_t i) { return *steps_[intervals_[i].steps - 1].step; };
  const int64_t distance = at(1) - at(0);
  if (distance <= 0) return;
  for (size_t i = 1; i < intervals_.size(); ++i)
    if (at(i) - at(i - 1) != distance || !(intervals_[i].seconds > 0)) return;
  for (size_t i = 1; i < intervals_.size(); ++i)
    for (size_t step = intervals_[i - 1].steps; step < intervals_[i].steps; ++step) {
      Step& line = steps_[step];
      if (!line.since_start && !line.since_last && !line.time && !line.step_time)
        line.step_time = intervals_[i].seconds / static_cast<double>(distance);
    }
}

// Where nothing else has a time, a step takes its part of the epoch that a line after it tells.
void GeneralLinesReader::TakeEpochs() {
  if (std::ranges::any_of(steps_, [](const Step& line) {
        return line.time || line.step_time || line.since_last || line.since_start || line.time_ns;
      }))
    return;
  size_t first = 0;
  for (const Epoch& epoch : epochs_) {
    const std::span lines = std::span(steps_).subspan(first, epoch.steps - first);
    first = epoch.steps;
    if (lines.empty() || lines.front().steps.value_or(0) <= 0 ||
        std::ranges::any_of(lines, [&](const Step& line) {
          return line.epoch != lines.front().epoch || line.steps != lines.front().steps;
        }))
      continue;
    for (Step& line : lines) line.step_time = epoch.seconds / static_cast<double>(*line.steps);
  }
}

// Where lines count no total and tell nothing of time but what each epoch took.
TrainingLog GeneralLinesReader::EpochsAlone() const {
  constexpr size_t kLeastEpochs = 2;
  TrainingLog log;
  if (epochs_.size() < kLeastEpochs || std::ranges::any_of(steps_, [](const Step& line) {
        return line.time || line.step_time || line.since_last || line.since_start || line.time_ns ||
               line.samples_per_second || line.tokens_per_second;
      }))
    return log;
  for (const Epoch& epoch : epochs_) {
    TrainingIteration row;
    row.iteration = static_cast<int64_t>(log.iterations.size()) + 1;
    row.covers = 1;
    row.elapsed_ns = epoch.seconds * kNsPerSecond;
    row.loss = steps_[epoch.steps - 1].loss;
    log.iterations.push_back(row);
  }
  log.program = kEpochs;
  log.of_epochs = true;
  return log;
}

// "total time: 0.67 s" of each step, and not since a start: then it would grow from line to line.
void GeneralLinesReader::TakeTotalsOfSteps() {
  size_t told = 0, grow = 0;
  std::optional<double> last;
  for (const Step& line : steps_) {
    if (!line.since_start) continue;
    if (last) {
      ++told;
      grow += *line.since_start >= *last;
    }
    last = line.since_start;
  }
  if (told < kLeastLines || static_cast<double>(grow) > kMostLines * static_cast<double>(told)) return;
  for (Step& line : steps_) {
    if (!line.since_start || line.rounded) continue;
    if (!line.time) line.time = line.since_start;
    line.since_start.reset();
  }
}

TrainingLog GeneralLinesReader::Finish() {
  TrainingLog log;
  if (steps_.size() < kLeastLines) return log;
  TakeTotalsOfSteps();
  TakeElapsed();
  TakeIntervals();
  TakeEpochs();
  if (TrainingLog epochs = EpochsAlone(); !epochs.empty()) return epochs;
  // Where most lines of steps have a result of a validation, it tells no line from another.
  if (2 * in_steps_ > steps_.size()) events_.clear();
  Meaning meaning = MeaningOfTime(steps_, epochs_);
  if (meaning != Meaning::kSinceStart && meaning != Meaning::kNone) {
    JudgeByTimeLeft(steps_);
    meaning = MeaningOfTime(steps_, epochs_);
  }
  std::vector<TrainingIteration> rows = Numbered(steps_);
  std::optional<double> last_start;
  std::optional<int64_t> last_time;
  // Then the lines' times say something even in whole seconds.
  int64_t first_ns = std::numeric_limits<int64_t>::max(), last_ns = std::numeric_limits<int64_t>::min();
  for (const Step& line : steps_) {
    first_ns = std::min(first_ns, line.time_ns.value_or(first_ns));
    last_ns = std::max(last_ns, line.time_ns.value_or(last_ns));
  }
  const bool spans =
      static_cast<double>(last_ns) - static_cast<double>(first_ns) >= kLeastSecondsBetween * kNsPerSecond;
  int64_t nan = 0, merged = 0;            // steps since the last row
  size_t longer = 0;                      // lines whose loading takes longer than their step
  double covered = 0, covered_since = 0;  // steps since the last line's time, since that of last_start
  MeanRate samples, tokens;
  auto event = events_.begin();
  for (size_t i = 0; i < rows.size(); ++i) {
    const Step& line = steps_[i];
    TrainingIteration& row = rows[i];
    const bool starts = i == 0 || row.attempt != rows[i - 1].attempt;
    for (; event != events_.end() && event->before <= i; ++event)
      log.events.push_back({log.iterations.size(), event->kind, event->ns});
    if (*row.covers == 0) continue;  // another line of the same step
    if (starts) {
      covered = covered_since = 0;
      last_time.reset();
      last_start.reset();
      merged = 0;
      samples = tokens = {};
    }
    const auto covers = static_cast<double>(*row.covers);
    covered += covers;
    covered_since += covers;
    samples.Add(line.samples_per_second, covers);
    tokens.Add(line.tokens_per_second, covers);
    if (line.nan) nan += *row.covers;
    std::optional<double> seconds = line.step_time;
    if (!seconds && line.since_last && !starts) seconds = *line.since_last / covers;
    if (!seconds && line.time && meaning == Meaning::kStep) seconds = line.time;
    if (!seconds && line.time && meaning == Meaning::kSinceLast && !starts) seconds = *line.time / covers;
    if (line.time && meaning == Meaning::kMeanOfEpoch) {
      if (i + 1 < rows.size() && steps_[i + 1].epoch == line.epoch) {
        merged += *row.covers;
        continue;
      }
      seconds = line.time;
    }
    const bool fine = line.time_ns && *line.time_ns % 1'000'000'000 != 0;
    const auto since = meaning == Meaning::kSinceStart && line.time ? line.time : line.since_start;
    bool printed = seconds.has_value();
    if (!seconds && since && last_start && *since > *last_start && !(line.rounded && fine)) {
      if (line.rounded && *since - *last_start < kLeastSecondsBetween) {
        merged += *row.covers;
        continue;
      }
      seconds = (*since - *last_start) / covered_since;
    }
    const bool later = line.time_ns && last_time && *line.time_ns >= *last_time;
    const int64_t between = later ? *line.time_ns - *last_time : 0;
    const bool coarse = !fine && static_cast<double>(between) < kLeastSecondsBetween * kNsPerSecond;
    if (line.step_time && i > 0 && steps_[i - 1].epoch != line.epoch && between > 0 &&
        between < kLongestBetween)
      log.between_epochs_ns.push_back(
          std::max(0.0, static_cast<double>(between) - covered * *line.step_time * kNsPerSecond));
    // The time of a single step that is far from what those beside it took, as of an epoch's first one.
    const double since_line = static_cast<double>(between) / kNsPerSecond;
    const bool first_of_epoch = i > 0 && steps_[i - 1].epoch != line.epoch;
    if (printed && meaning == Meaning::kStep && !line.step_time && !coarse && between > 0 &&
        between < kLongestBetween && covered > 1 &&
        (first_of_epoch || *seconds * covered > kAlike * since_line)) {
      seconds = since_line / covered;
      printed = false;
    }
    if (!seconds && !since && later && coarse && spans && i + 1 < rows.size()) {
      merged += *row.covers;
      continue;
    }
    if (!seconds && between > 0 && between < kLongestBetween && !coarse)
      seconds = static_cast<double>(between) / kNsPerSecond / covered;
    if (!printed && seconds && i > 0 && steps_[i - 1].epoch != line.epoch &&
        (log.events.empty() || log.events.back().before != log.iterations.size()))
      log.events.push_back({log.iterations.size(), TrainingEventKind::kEpochEnd, {}});
    if (since) {
      last_start = since;
      covered_since = 0;
    }
    last_time = line.time_ns;
    covered = 0;
    *row.covers += std::exchange(merged, 0);
    row.samples_per_second = samples.Take();
    row.tokens_per_second = tokens.Take();
    row.mfu = line.mfu;
    row.loss = line.loss;
    row.learning_rate = line.learning_rate;
    if (nan > 0) row.nan = std::exchange(nan, 0);
    if (!line.epoch) row.planned = line.steps;
    if (seconds && *seconds > 0 && *seconds < 1e7) row.elapsed_ns = *seconds * kNsPerSecond;
    if (line.input && line.since_last && seconds) {
      log.timers.push_back({log.iterations.size(), "data", {}, *line.input / covers * kNsPerSecond, {}, {}});
      log.iterations.push_back(row);
      continue;
    }
    for (const auto& [name, part] : {std::pair{"forward", line.forward}, std::pair{"backward", line.backward},
                                     std::pair{"optimizer", line.optimizer}})
      if (part && line.step_time && *part <= *line.step_time)
        log.timers.push_back({log.iterations.size(), name, {}, *part * kNsPerSecond, {}, {}});
    // An epoch's first step waits for the workers to start, and tells nothing of those before it.
    const bool of_first = first_of_epoch && covers > 1;
    const auto input = line.input && line.sums ? std::optional(*line.input / covers) : line.input;
    if (input && seconds && *input > *seconds) ++longer;
    if (input && seconds && *input <= *seconds && !of_first)
      log.timers.push_back({log.iterations.size(), "data", {}, *input * kNsPerSecond, {}, {}});
    log.iterations.push_back(row);
  }
  if (log.iterations.size() < kLeastRows) return {};
  // Then it is of another span than a step, as of an epoch's first batch alone.
  const auto of_input = [](const TrainingTimer& timer) { return timer.name == "data"; };
  const auto waits = static_cast<size_t>(std::ranges::count_if(log.timers, of_input));
  if (static_cast<double>(longer) > (1 - kMostLines) * static_cast<double>(longer + waits))
    std::erase_if(log.timers, of_input);
  SetCovers(log.iterations, std::nullopt);
  for (TrainingIteration& row : log.iterations)
    if (row.nan) row.nan = std::min(*row.nan, row.covers.value_or(1));
  LeaveOutCommonEvents(log);
  evaluations_.Report(steps_.size(), log);
  for (const Step& line : steps_)
    if (line.free_bytes)
      log.least_free_bytes = std::min(log.least_free_bytes.value_or(*line.free_bytes), *line.free_bytes);
  const bool fairseq2 = std::ranges::all_of(steps_, [](const Step& line) { return line.sums; });
  log.program = fairseq2 ? "fairseq2" : kStepsAlone;
  return log;
}

}  // namespace dladvisor::training_log
