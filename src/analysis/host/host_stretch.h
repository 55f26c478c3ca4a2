// SPDX-License-Identifier: Apache-2.0
// Stretches of a program in which the host makes no CUDA call and no GPU works: what it computes there the
// GPU waits for, or could do. Within the analysed window these are idle gaps; this is what lies outside of
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct HostStretchRow {
  int64_t pid = 0, start_ns = 0, end_ns = 0, duration_ns = 0;
  std::string place;
  double share = 0;
  std::optional<std::string> before, after, activity, function;
  std::optional<double> function_share;
  std::optional<std::string> functions, leading_functions, other_functions;
  std::optional<int64_t> samples, other_threads;
};
const RelationOf<HostStretchRow>& HostStretchRelation();

// Of each process with CUDA calls: between two calls that allocate, copy or launch where the profile has no
// GPU work or before the first of it, before the first call and after the last, and after the last GPU
// operation until the last call. The longest first.
std::vector<HostStretchRow> ComputeHostStretches(const Context& context);

}  // namespace dladvisor
