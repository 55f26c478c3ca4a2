// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <numbers>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "engine/base/text.h"
#include "src/gate/compare/change_points.h"
#include "src/gate/judge/course.h"
#include "src/render/change_text.h"
#include "src/statistics/probability.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// The runs that have the metric, in order.
std::vector<const HistoryRun*> RunsWith(const std::vector<HistoryRun>& runs, const std::string& setting,
                                        const std::string& metric) {
  std::vector<const HistoryRun*> with;
  for (const HistoryRun& run : runs) {
    const auto found = run.values.find(metric);
    if (run.setting != setting || found == run.values.end() || !std::isfinite(found->second.value)) continue;
    // Runs of one gate share the machine and the hour: they count as one.
    if (with.empty() || run.utc_ns == 0 || run.utc_ns != with.back()->utc_ns) with.push_back(&run);
  }
  return with;
}

std::vector<double> ValuesOf(std::span<const HistoryRun* const> runs, const std::string& metric) {
  std::vector<double> values;
  for (const HistoryRun* run : runs) values.push_back(run->values.at(metric).value);
  return values;
}

// "2026-03-01 14:05", in UTC.
std::string DateOf(int64_t utc_ns) {
  const std::time_t seconds = utc_ns / 1'000'000'000 - (utc_ns % 1'000'000'000 < 0 ? 1 : 0);
  std::tm utc{};
  if (gmtime_r(&seconds, &utc) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min);
}

std::string LabelOf(const HistoryRun& run) { return run.label.empty() ? DateOf(run.utc_ns) : run.label; }

using Findings = std::set<std::pair<std::string, std::string>>;

// Of the findings of the runs, those of more than `share` of them.
Findings FindingsOf(std::span<const HistoryRun* const> runs, double share) {
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const HistoryRun* run : runs)
    for (const auto& finding : Findings(run->findings.begin(), run->findings.end())) ++counts[finding];
  Findings often;
  for (const auto& [finding, count] : counts)
    if (static_cast<double>(count) > share * static_cast<double>(runs.size())) often.insert(finding);
  return often;
}

// Rules with a finding in most runs of the new level that few of the old one had.
std::vector<std::string> Appeared(std::span<const HistoryRun* const> before,
                                  std::span<const HistoryRun* const> after) {
  const Findings old = FindingsOf(before, 0.25);
  std::set<std::string> rules;
  for (const auto& finding : FindingsOf(after, 0.5))
    if (!old.contains(finding)) rules.insert(finding.first);
  return {rules.begin(), rules.end()};
}

// "8.4 %", or "3.00 GiB" where the base is 0.
std::string Amount(double change, double base, Unit unit) {
  if (base == 0) return FormatValue(std::abs(change), unit);
  return DistanceText(change / base);
}

// "in 3 steps, none of which was more than 3 %": of the changes since the best level.
std::string Steps(const std::vector<Trend::Change>& changes, size_t since, double regression) {
  size_t count = 0;
  double largest = 0;
  for (const Trend::Change& change : changes) {
    if (change.at < since) continue;
    ++count;
    if (change.before != 0)
      largest = std::max(largest, std::abs((change.after - change.before) / change.before));
  }
  if (count < 2) return "in one step";
  if (largest <= regression)
    return fmt::format("in {} steps, none of which was more than {:.4g} %", count, regression * 100);
  return fmt::format("in {} steps, the largest of {}", count, DistanceText(largest));
}

}  // namespace

std::optional<RunNoise> LearnNoise(const std::vector<HistoryRun>& runs, const std::string& setting,
                                   const std::string& metric) {
  const auto with = RunsWith(runs, setting, metric);
  if (with.size() < kFewestHistoryRuns) return std::nullopt;
  const std::vector<double> series = ValuesOf(with, metric);
  std::vector<double> deviations;  // relative
  size_t levels = 0;
  for (const LevelSegment& segment : FindLevels(series)) {
    if (segment.level == 0) continue;
    ++levels;
    for (size_t i = segment.begin; i < segment.end; ++i)
      deviations.push_back(std::abs((series[i] - segment.level) / segment.level));
  }
  if (deviations.size() < kFewestHistoryRuns) return std::nullopt;

  std::sort(deviations.begin(), deviations.end());
  // Each level's median has no deviation of its own.
  const size_t free = deviations.size() - levels;
  const double robust_sd = kDeviationPerMad * deviations[levels + (free - 1) / 2];
  const size_t outliers = (deviations.size() + 49) / 50;
  const double limit = std::max(3 * robust_sd, deviations[deviations.size() - 1 - outliers]);
  double sum = 0;
  for (const double deviation : deviations) {
    const double drawn_in = std::min(deviation, limit);
    sum += drawn_in * drawn_in;
  }
  RunNoise noise;
  noise.source = RunNoise::Source::kHistory;
  noise.degrees = static_cast<double>(free);
  noise.relative_sd = std::sqrt(sum / noise.degrees);
  noise.runs = deviations.size();
  return noise;
}

Trend TrendOf(const std::vector<HistoryRun>& runs, const std::string& setting, const std::string& metric,
              const ComparisonOptions& options) {
  Trend trend;
  trend.metric = trend.title = metric;
  auto with = RunsWith(runs, setting, metric);
  if (with.size() > kTrendRuns) with.erase(with.begin(), with.end() - kTrendRuns);
  if (with.empty()) {
    trend.why = "No run of the history has it.";
    return trend;
  }
  const HistoryRun::Metric& last = with.back()->values.at(metric);
  trend.title = last.title;
  trend.unit = last.unit;
  const std::vector<double> values = ValuesOf(with, metric);
  for (size_t i = 0; i < with.size(); ++i) trend.points.push_back({LabelOf(*with[i]), values[i]});
  if (with.size() < kFewestHistoryRuns) {
    trend.why = fmt::format("A trend needs {} runs; {}.", kFewestHistoryRuns,
                            with.size() == 1 ? "there is one" : fmt::format("there are {}", with.size()));
    return trend;
  }

  std::vector<double> series = values;
  if (!options.lower_is_better)
    for (double& value : series) value = -value;
  const Course course = CourseOf(series);
  const double sign = options.lower_is_better ? 1 : -1;
  const std::span<const HistoryRun* const> all = with;
  for (size_t i = 1; i < course.levels.size(); ++i) {
    const LevelSegment &before = course.levels[i - 1], &after = course.levels[i];
    trend.changes.push_back(
        {after.begin, sign * before.level, sign * after.level,
         Appeared(all.subspan(before.begin, before.size()), all.subspan(after.begin, after.size()))});
  }

  const std::string title = WithinSentence(trend.title);
  if (!course.has_changed()) {
    trend.why = fmt::format("The level of the {} did not change in {} runs.", title, with.size());
    return trend;
  }
  const double zone = std::max(options.regression * std::abs(course.best().level), options.floor);
  const double rise = course.rise();
  if (std::abs(rise) <= zone) {
    trend.why =
        fmt::format("The {} is at the best level of the last {} runs, or near it.", title, with.size());
    return trend;
  }
  const size_t since = course.best().end;
  const std::string& label = trend.points[since].label;
  const std::string what = fmt::format(
      "since run {} of {}{} the {} {} by {}", since + 1, with.size(), label.empty() ? "" : " (" + label + ")",
      title, rise * sign > 0 ? "rose" : "fell", Amount(rise, course.best().level, trend.unit));
  if (!IsMoreThanNoise(series, course, options.alpha)) {
    trend.verdict = rise > 0 ? Verdict::kInconclusive : Verdict::kPass;
    trend.why = fmt::format("It seems that {}, but runs of the same program may differ as much.", what);
    return trend;
  }
  trend.verdict = rise > 0 ? Verdict::kRegressed : Verdict::kImproved;
  trend.why = fmt::format("S{} {}.", what.substr(1), Steps(trend.changes, since, options.regression));
  return trend;
}

std::optional<Trend> CreepOver(size_t merges, double creep, const std::vector<HistoryRun>& runs,
                               const std::string& setting, const std::string& metric,
                               const ComparisonOptions& options) {
  auto with = RunsWith(runs, setting, metric);
  const auto noise = LearnNoise(runs, setting, metric);
  if (with.size() < std::max(merges, 2 * kShortestLevel) || !noise) return std::nullopt;
  if (with.size() > kTrendRuns) with.erase(with.begin(), with.end() - kTrendRuns);
  std::vector<double> of_all = ValuesOf(with, metric);
  if (!options.lower_is_better)
    for (double& value : of_all) value = -value;
  const Course course = CourseOf(of_all);
  const std::string began = course.has_changed() ? LabelOf(*with[course.best().end]) : "";
  with.erase(with.begin(), with.end() - static_cast<std::ptrdiff_t>(std::min(merges, with.size())));
  const std::vector<double> values = ValuesOf(with, metric);
  constexpr auto kEnds = static_cast<std::ptrdiff_t>(kShortestLevel);
  const double before = Median(std::vector<double>(values.begin(), values.begin() + kEnds)),
               after = Median(std::vector<double>(values.end() - kEnds, values.end()));
  if (!(std::abs(before) > 0)) return std::nullopt;
  const double worse = (options.lower_is_better ? 1 : -1) * (after - before) / std::abs(before);
  // The variance of a median of few is at most that of a mean of normal values times pi / 2, and neighbours
  // that depend on each other average less.
  const CorrelatedNoise between = NoiseBetween(of_all, course);
  const double n = static_cast<double>(kShortestLevel), r = between.correlation;
  const double of_mean = (n + 2 * ((n - 1) * r + (n - 2) * r * r)) / (n * n);
  const double sd = std::max(noise->relative_sd, between.sd / std::abs(before)) *
                    std::sqrt(std::numbers::pi / 2 * 2 * of_mean);
  const double bound = sd * StudentQuantile(options.alpha, noise->degrees);
  Trend trend;
  trend.metric = metric;
  const HistoryRun::Metric& last = with.back()->values.at(metric);
  trend.title = fmt::format("{} over {} runs", last.title, merges);
  trend.unit = last.unit;
  for (size_t i = 0; i < with.size(); ++i) trend.points.push_back({LabelOf(*with[i]), values[i]});
  const std::string change =
      fmt::format("Since {} the {} became {} {}", trend.points[0].label, WithinSentence(last.title),
                  DistanceText(worse), worse > 0 ? "worse" : "better");
  trend.verdict = worse <= creep  ? Verdict::kPass
                  : worse > bound ? Verdict::kRegressed
                                  : Verdict::kInconclusive;
  trend.why =
      worse <= creep ? fmt::format("{}, within the budget of {:.4g} %.", change, 100 * creep)
      : worse > bound
          ? fmt::format("{}, over the budget of {:.4g} % for {} runs{}.", change, 100 * creep, merges,
                        began.empty() ? "" : fmt::format("; the creep began at {}", began))
          : fmt::format("{}, but runs of the same program may differ by {}.", change, DistanceText(bound));
  return trend;
}

}  // namespace dladvisor
