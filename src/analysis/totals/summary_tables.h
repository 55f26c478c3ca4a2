// SPDX-License-Identifier: Apache-2.0
// What totals by name, which a profiler printed, say of one profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/analysis/totals/summary_rows.h"

namespace dladvisor {

struct SummaryTableRow {
  int64_t profile = 0, summary = 0;
  std::string tool;
  std::optional<std::string> title;
  int64_t rows = 0;
  bool shows_gpu = false;
  std::optional<double> device_ns, host_ns;
  std::optional<int64_t> kernel_names, kernels;
  std::optional<double> kernel_ns, communication_ns;
  std::optional<int64_t> copies;
  std::optional<double> copy_ns, to_device_ns, to_host_ns, on_device_ns, migration_ns, to_device_bytes,
      to_host_bytes, migration_bytes;
  std::optional<double> api_ns, launch_ns, launch_own_ns, wait_ns, copy_call_ns, allocation_ns,
      allocation_own_ns, loading_ns;
  std::optional<int64_t> launches, waits, copy_calls, allocations;
  std::optional<double> operator_ns;
  std::optional<std::string> main_kind, main_name;
  std::optional<int64_t> main_calls;
  std::optional<double> main_ns, main_share;
};
const RelationOf<SummaryTableRow>& SummaryTableRelation();

std::vector<SummaryTableRow> ComputeSummaryTables(const Context& context,
                                                  const std::vector<SummaryTotalRow>& totals);

template <>
inline constexpr Computed kValue<std::vector<SummaryTableRow>>{"summary_table rows", ComputeSummaryTables};

}  // namespace dladvisor
