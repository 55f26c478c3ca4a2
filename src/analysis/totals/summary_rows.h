// SPDX-License-Identifier: Apache-2.0
// Totals by name that a profiler printed: what each is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct SummaryTotalRow {
  int64_t profile = 0, summary = 0, row = 0;
  std::string kind, name, short_name;
  std::optional<std::string> does, precision;
  std::optional<bool> uses_tensor_cores;
  int64_t calls = 0;
  double total_ns = 0;
  std::optional<double> share, average_ns, median_ns, min_ns, max_ns, bytes, self_ns, device_ns,
      device_self_ns;
};
const RelationOf<SummaryTotalRow>& SummaryTotalRelation();

std::vector<SummaryTotalRow> ComputeSummaryTotals(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<SummaryTotalRow>>{"summary_total rows", ComputeSummaryTotals};

}  // namespace dladvisor
