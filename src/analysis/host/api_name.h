// SPDX-License-Identifier: Apache-2.0
// CUDA API calls by name, over the whole profile: the sums equal plain SQL on the export.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct ApiNameRow {
  std::optional<int64_t> rank;
  std::string name;
  int64_t calls = 0, total_ns = 0;
  double avg_ns = 0;
  int64_t min_ns = 0, max_ns = 0, window_calls = 0, window_ns = 0;
  std::optional<double> calls_per_step;
  int64_t max_outside_ns = 0;
  int64_t errors = 0;
  std::optional<int64_t> first_error_ns;
  std::optional<std::string> first_error, remedy;
  int64_t window_in_a_row = 0;
  std::optional<int64_t> window_in_operators;
  int64_t timed_calls = 0, timed_errors = 0;
  int64_t managed_calls = 0, managed_ns = 0;
};
const RelationOf<ApiNameRow>& ApiNameRelation();

// By rank, then total time descending; processes without GPU work together, without rank.
std::vector<ApiNameRow> ComputeApiNames(const Context& context);

}  // namespace dladvisor
