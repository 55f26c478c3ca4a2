// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/epoch_times.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/importers/training_log/lines/growth.h"
#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

// Fewer times may grow by themselves.
constexpr size_t kLeastTotals = 5;
// Of a total the part that epochs of equal length explain, from which on it is one.
constexpr double kMostlyTotal = 0.5;
// By how much of the median the first epoch may differ from it.
constexpr double kMostOfFirst = 0.3;

}  // namespace

std::optional<double> TimeOfEpochBefore(std::string_view line) {
  if (line.size() > 160 || line.find("poch") == std::string_view::npos) return std::nullopt;
  static const RE2 time(
      R"((?i)^\W*(?:(?:total )?time (?:taken|used|elapsed|cost|spent)? ?(?:for|in|of|per) (?:(?:1|one|this|the|each) )?epoch|epoch (?:training )?(?:time|duration|took))\b[^\d]{0,16}(\d+(?:\.\d+)?) *(s|secs?|seconds?|min|mins|minutes?)\b)"),
      without_unit(R"((?i)^\W*(?:train\w* )?epoch (?:training )?time[ :=]{1,3}(\d+\.\d+)\s*()$)");
  double number = 0;
  std::string unit;
  if ((!RE2::PartialMatch(line, time, &number, &unit) &&
       !RE2::PartialMatch(line, without_unit, &number, &unit)) ||
      !(number > 0))
    return std::nullopt;
  return number * (unit.starts_with('m') || unit.starts_with('M') ? 60 : 1);
}

std::optional<double> LoadingOfEpoch(std::string_view line) {
  if (line.size() > 160 || line.find("ata") == std::string_view::npos) return std::nullopt;
  static const RE2 loading(
      R"((?i)^\W*data[ -]?(?:load(?:er|ing))?[ _]time[ :=]{1,3}(\d+\.\d+) *(?:s|secs?|seconds?)?\s*$)");
  double number = 0;
  return RE2::PartialMatch(line, loading, &number) ? std::optional(number) : std::nullopt;
}

std::optional<double> TimeOfWholeEpoch(std::string_view line) {
  if (line.size() > 240 || line.find("poch") == std::string_view::npos) return std::nullopt;
  static const RE2 whole(
      R"((?i)\bepoch\b[^%]{0,48}?\b(?:complete[sd]?|finishe[sd]|done|ended|took|takes)\b[^\d%]{0,16}?(\d+(?:\.\d+)?) *(s|secs?|seconds?|min|mins|minutes?)\b)");
  // "Epoch finished, avg_loss=0.2464, time=69.7s": the time has a name among other values.
  static const RE2 named(
      R"((?i)\bepoch\b[^%]{0,48}?\b(?:complete[sd]?|finishe[sd]|done|ended)\b.*?[^\w.](?:epoch[_ ])?(?:time|took|elapsed|duration)[:= ]{1,3}(\d+(?:\.\d+)?) ?(s|secs?|seconds?|min|mins|minutes?)\b)");
  double number = 0;
  std::string unit;
  if ((!RE2::PartialMatch(line, whole, &number, &unit) && !RE2::PartialMatch(line, named, &number, &unit)) ||
      !(number > 0))
    return TimeOfEpochBefore(line);
  return number * (unit.front() == 'm' || unit.front() == 'M' ? 60 : 1);
}

std::optional<double> TimeOfEvaluation(std::string_view line) {
  if (line.size() > 240) return std::nullopt;
  static const RE2 evaluation(
      R"((?i)\bepoch\W{0,3}\d+\W{0,3}(?:val|valid|validation|eval|evaluation|test)\b.*\b(?:cost|time|took)\b[^\d,;|]{0,12}?(\d+(?:\.\d+)?) *s(?:ec\w*)?\b)");
  // "Epoch 2/50, time: 8.53 s, val_loss: 0.879"
  static const RE2 by_loss(
      R"((?i)\bepoch\W{0,4}\d+(?: ?/ ?\d+)?\b.{0,24}?\b(?:cost|time|took)\b[^\d,;|]{0,12}?(\d+(?:\.\d+)?) *s(?:ec\w*)?\b.*\b(?:val\w*|eval\w*|test)[ _-]loss\b)"),
      training(R"((?i)\btrain)");
  double number = 0;
  return (RE2::PartialMatch(line, evaluation, &number) ||
          (RE2::PartialMatch(line, by_loss, &number) && !RE2::PartialMatch(line, training))) &&
                 number > 0
             ? std::optional(number)
             : std::nullopt;
}

std::optional<double> TimeOfEvaluationLine(std::string_view line) {
  constexpr size_t kLongest = 256;
  if (line.size() > kLongest || line.find("al") == std::string_view::npos) return std::nullopt;
  // Behind what a logger writes before its message.
  static const RE2 evaluation(
      R"((?i)(?:^|[\]|>] *|(?:INFO|info)[ :-]*|\d - )\W{0,4}(?:val(?:id\w*)?|eval\w*)\b[^%|]*?(\w*)[ ,:;(]{0,3}\b(?:took|takes|time|in)\b[ :=]{1,3}(\d+(?:\.\d+)?) *(ms|s|secs?|seconds?|min|mins|minutes?)\b)"),
      other("(?i)^(?:epoch|total|elapsed|per|inference|train\\w*)$"), counted(R"(\d ?/ ?\d)");
  std::string before, number, unit;
  if (!RE2::PartialMatch(line, evaluation, &before, &number, &unit) || RE2::FullMatch(before, other) ||
      RE2::PartialMatch(line, counted) || OfPartOfEpoch(line))
    return std::nullopt;
  const auto value = Number(number);
  if (!value) return std::nullopt;
  return *value * (unit == "ms" ? 1e-3 : unit.starts_with("m") ? 60 : 1);
}

bool OfPartOfEpoch(std::string_view line) {
  static const RE2 part(R"((?i)\b(?:iter|batch|step)\w*\W{0,8}\d|%\|)"),
      size(R"((?i)\bbatch[_ ]?size\W{0,8}\d+)");
  std::string without(line);
  RE2::GlobalReplace(&without, size, "");
  return RE2::PartialMatch(without, part);
}

std::optional<double> TimeOfSeveralSteps(std::string_view line) {
  constexpr size_t kLongest = 512;
  if (line.size() > kLongest) return std::nullopt;
  static const RE2 named(
      R"((?i)\btime\b[^\d%]{0,16}?\b(?:for|of|in)\b (?:the )?(?:last |past |previous )?(\d{1,7}) (?:iter\w*|steps|batches|updates)\W{1,3}(\d+(?:\.\d+)?) *(ms|s|sec\w*|min\w*)?\b)"),
      took(
          R"((?i)(?:^|[^\w.])(\d{1,7}) (?:iter\w*|steps|batches|updates) (?:took|in|done in|finished in) (\d+(?:\.\d+)?) *(ms|s|sec\w*|min\w*)\b)");
  std::string unit;
  double steps = 0, time = 0;
  if ((!RE2::PartialMatch(line, named, &steps, &time, &unit) &&
       !RE2::PartialMatch(line, took, &steps, &time, &unit)) ||
      !(steps > 0) || !(time > 0))
    return std::nullopt;
  return time / steps * (unit == "ms" ? 1e-3 : unit.starts_with('m') ? 60 : 1);
}

void SplitTotals(std::vector<TrainingIteration>& epochs) {
  if (epochs.size() < kLeastTotals) return;
  for (size_t i = 0; i < epochs.size(); ++i) {
    if (!epochs[i].elapsed_ns || epochs[i].attempt != epochs[0].attempt) return;
    if (i > 0 && *epochs[i].elapsed_ns <= *epochs[i - 1].elapsed_ns) return;
  }
  // Of a line each, or of one for every so many epochs: then by epoch.
  bool apart = false;
  std::vector<double> growth, by_epoch;
  for (size_t i = 1; i < epochs.size(); ++i) {
    const int64_t distance = std::max<int64_t>(1, epochs[i].iteration - epochs[i - 1].iteration);
    apart = apart || distance > 1;
    growth.push_back(*epochs[i].elapsed_ns - *epochs[i - 1].elapsed_ns);
    by_epoch.push_back(growth.back() / static_cast<double>(distance));
  }
  std::vector<double> sorted = by_epoch;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2));
  const double median = sorted[sorted.size() / 2];
  const double first = *epochs.front().elapsed_ns;
  bool first_known = true;
  const auto as_median = [&](double ns) { return std::abs(median - ns) <= kMostOfFirst * median; };
  if (apart) {
    // From nothing, and as much with each epoch: no epoch becomes longer by its number.
    if (!std::ranges::all_of(by_epoch, as_median) || first > (1 + kMostOfFirst) * growth.front()) return;
  } else if (*epochs.back().elapsed_ns < kMostlyTotal * static_cast<double>(epochs.size()) * first ||
             // Epochs that become longer begin with another time than they grow by, and so does a clock that
             // began before the first of them.
             !as_median(first)) {
    TimesOfRun times;
    for (const TrainingIteration& epoch : epochs) times.push_back(*epoch.elapsed_ns / kNsPerSecond);
    if (!std::ranges::all_of(by_epoch, as_median) || !GrowsAsClock(std::span(&times, 1))) return;
    first_known = false;
  }
  // What the lines' own times say of it.
  size_t as_total = 0, as_own = 0;
  for (size_t i = 1; i < epochs.size(); ++i) {
    if (!epochs[i].time_ns || !epochs[i - 1].time_ns) continue;
    const auto between =
        static_cast<double>(*epochs[i].time_ns) - static_cast<double>(*epochs[i - 1].time_ns);
    const double own = *epochs[i].elapsed_ns;
    ++(std::abs(between - own) < std::abs(between - growth[i - 1]) ? as_own : as_total);
  }
  if (as_own > as_total) return;
  // What the first has of those before it is not known where the log begins with a later one.
  if (apart && epochs.front().iteration > 1 &&
      !as_median(first / static_cast<double>(epochs.front().iteration)))
    epochs.front().elapsed_ns.reset();
  else if (apart)
    *epochs.front().elapsed_ns /= static_cast<double>(std::max<int64_t>(1, epochs.front().iteration));
  else if (!first_known)
    epochs.front().elapsed_ns.reset();
  for (size_t i = 1; i < epochs.size(); ++i) *epochs[i].elapsed_ns = by_epoch[i - 1];
}

void SamplesToEpochs(TrainingLog& log) {
  if (!std::ranges::all_of(log.iterations, [](const TrainingIteration& row) { return row.covers > 1; })) {
    for (TrainingIteration& row : log.iterations) row.covers.reset();
    return;
  }
  int64_t attempt = 0, last = 0;
  for (TrainingIteration& row : log.iterations) {
    if (row.elapsed_ns) *row.elapsed_ns *= static_cast<double>(*row.covers);
    row.iteration /= *row.covers;
    row.covers = 1;
    row.attempt = attempt += row.iteration <= last;
    last = row.iteration;
  }
  log.of_epochs = true;
}

void LeaveOutCommonEvents(TrainingLog& log) {
  for (const TrainingEventKind kind : {TrainingEventKind::kEvaluation, TrainingEventKind::kCheckpoint}) {
    const auto is = [&](const TrainingEvent& event) {
      return event.kind == kind && event.before < log.iterations.size();
    };
    if (2 * static_cast<size_t>(std::ranges::count_if(log.events, is)) > log.iterations.size())
      std::erase_if(log.events, is);
  }
}

}  // namespace dladvisor::training_log
