// SPDX-License-Identifier: Apache-2.0
// What the runs of a history show: how much runs of the same program differ, and a slow creep that no single
// comparison finds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/gate/compare/comparison.h"
#include "src/gate/model/history.h"
#include "src/gate/model/verdict.h"

namespace dladvisor {

// Fewer runs are not enough.
inline constexpr size_t kFewestHistoryRuns = 8;
// What a trend looks back on.
inline constexpr size_t kTrendRuns = 200;

// How much runs of that setting differ in a metric: the relative standard deviation around each level
// (change_points.h), so that changes of the program are not noise. The largest 2 % of the deviations, and at
// least one, are drawn in to the next largest or to three robust standard deviations, whichever is more
// (Winsorised): one outlier does not blow it up, and what happens more often counts as it is.
// Nothing with fewer than kFewestHistoryRuns runs.
std::optional<RunNoise> LearnNoise(const std::vector<HistoryRun>& runs, const std::string& setting,
                                   const std::string& metric);

// The metric over the last kTrendRuns runs of that setting, the last of which is the one that is gated. It
// regressed where its level is worse, after one or several steps, than the best earlier level by more than
// `options.regression` and `options.floor`, and by more than noise, also of runs that depend on the ones
// before (course.h). A level lasts for kShortestLevel runs at least: the last run alone is for Compare() to
// judge. It improved where its level is better, likewise, than any earlier one.
Trend TrendOf(const std::vector<HistoryRun>& runs, const std::string& setting, const std::string& metric,
              const ComparisonOptions& options);

// A budget of the history: whether over the last `merges` runs the metric became worse by more than `creep`,
// relative, and by more than noise: the medians of the first and the last kShortestLevel runs of them, whose
// difference is drawn with the noise that the history shows (LearnNoise, or NoiseBetween if that is more).
// Nothing with fewer runs.
std::optional<Trend> CreepOver(size_t merges, double creep, const std::vector<HistoryRun>& runs,
                               const std::string& setting, const std::string& metric,
                               const ComparisonOptions& options);

}  // namespace dladvisor
