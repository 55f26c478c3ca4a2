// SPDX-License-Identifier: Apache-2.0
// Runs of one side that fall in two groups, as where a setting or a machine differs between them: their mean
// then is that of no run.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "src/gate/compare/run_mean.h"

namespace dladvisor {

struct RunGroups {
  size_t low_runs = 0, high_runs = 0;  // of at least kFewestOfGroup
  double low = 0, high = 0;            // the groups' means
  double end_of_low = 0, begin_of_high = 0;
};

inline constexpr size_t kFewestOfGroup = 2;

// The groups whose means differ by more than `apart`, where at most `alpha` of as many normal values fall
// apart as clearly: of all divisions of the sorted values the largest share of their variance that is between
// the parts (Engelman and Hartigan 1969), to which the variance of the `others`, the runs of the other side,
// is added. None where the groups are whole jobs of several runs, whose noise runs of a job share.
std::optional<RunGroups> FindTwoGroups(std::span<const RunMean> runs, std::span<const RunMean> others,
                                       double apart, double alpha);

}  // namespace dladvisor
