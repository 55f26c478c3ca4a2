// SPDX-License-Identifier: Apache-2.0
// Whether runs of a candidate take longer than runs of a baseline, by more than noise.
//
// The change is a regression where it is more than noise explains (noise.h), at the chance of a false alarm
// `alpha`, and, as measured, more than the zone that the project calls equal, the wider of a relative and an
// absolute one. A change is called detectable where runs of a program that is slower by it fail in
// kPower of cases (power.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/gate/compare/noise.h"
#include "src/gate/compare/run_mean.h"
#include "src/gate/model/verdict.h"

namespace dladvisor {

struct ComparisonOptions {
  double alpha = kDefaultAlpha;  // chance of calling the same program worse, corrected for several metrics
  double regression = 0.03;      // relative half-width of the zone that is called equal
  double floor = 0;              // absolute one
  bool lower_is_better = true;
  Aggregation aggregation = Aggregation::kMean;
  bool gates = true;  // whether RunComparison::detectable and ::groups are wanted, which take time
};

struct RunComparison {
  // Pass where the change is within the zone, or better but not by more than noise; inconclusive where it is
  // worse but not by more than noise, where the steps of a side with less than three runs are too few, or
  // where a part of the candidate's runs alone is worse (run_groups.h).
  Verdict verdict = Verdict::kPass;
  double baseline = 0, candidate = 0;
  // Of the baseline's absolute value, unknown where that is 0. low and high bound it at 1 - 2 alpha.
  std::optional<double> change, low, high;
  // The least worsening, as a positive share of the baseline, for which these runs would have failed had they
  // shown it. Unknown where none would, and where values are not positive.
  std::optional<double> fails_from;
  // The worsening of the program, likewise, that gates of as many new runs find in kPower of cases. Unknown
  // where noise is only assumed or its tail is heavy or not known (power.h), and of other aggregates than
  // means.
  std::optional<double> detectable;
  // Where a part of the candidate's runs is worse than the others: what part, and by how much. Else "".
  std::string groups;
  bool noise_is_assumed = false;  // as how much runs differ is not known
  std::string noise, why;         // see MetricVerdict
};

// REQUIRES: a run on each side.
RunComparison Compare(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                      const RunNoise& between_runs, const ComparisonOptions& options);

}  // namespace dladvisor
