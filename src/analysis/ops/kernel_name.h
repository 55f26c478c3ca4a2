// SPDX-License-Identifier: Apache-2.0
// Kernels by name over the whole profile: the sums equal plain SQL on the export.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/ops/kernel_name_order.h"

namespace dladvisor {

// Texts are of the trace.
struct KernelNameRow {
  int64_t rank = 0, device = 0;
  std::string_view kernel, short_name;
  int64_t instances = 0, total_ns = 0;
  double avg_ns = 0, median_ns = 0;
  int64_t min_ns = 0, max_ns = 0;
  std::optional<double> stddev_ns, share;
  std::optional<bool> drifts, shrinks;
  std::optional<double> grid_avg, block_avg;
  std::optional<int64_t> grid_min, grid_max;
  std::optional<bool> uses_tensor_cores;
  bool eligible = false;
  std::optional<std::string_view> precision;
  std::string_view kind;
  std::optional<int64_t> tail_ns;
  bool communication = false;
  std::optional<double> mean_blocks_per_sm, mean_occupancy;
  std::optional<int64_t> fitting_blocks, registers, local_bytes;
  std::optional<std::string_view> occupancy_limit;
  int64_t window_instances = 0, window_ns = 0;  // in the analysed window
  std::optional<double> window_share;
  std::optional<int64_t> serial_instances, serial_ns;
};
const RelationOf<KernelNameRow>& KernelNameRelation();

// By rank, device, then time descending.
Table ComputeKernelNames(const Context& context, const KernelNameOrder& names);

}  // namespace dladvisor
