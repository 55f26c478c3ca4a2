// SPDX-License-Identifier: Apache-2.0
// All operations of a GPU, whatever their kind, in one order.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

// Calls visit(ops, row, computes) for the kernels, graphs, copies and sets of one of ranks.gpus in order of
// start; `computes` distinguishes kernels and graphs from the others.
template <class Visit>
void ForEachGpuOperation(const Trace& trace, const GpuWork& work, Visit visit) {
  const std::array<std::pair<const GpuOperations*, const std::vector<uint32_t>*>, 4> tables = {
      {{&trace.kernels, &work.kernels},
       {&trace.graph_launches, &work.graphs},
       {&trace.copies, &work.copies},
       {&trace.sets, &work.sets}}};
  std::array<size_t, 4> at{};
  const auto start = [&](size_t table) {
    return tables[table].first->start[(*tables[table].second)[at[table]]];
  };
  while (true) {
    size_t next = tables.size();
    for (size_t i = 0; i < tables.size(); ++i)
      if (at[i] < tables[i].second->size() && (next == tables.size() || start(i) < start(next))) next = i;
    if (next == tables.size()) return;
    visit(*tables[next].first, (*tables[next].second)[at[next]++], next < 2);
  }
}

}  // namespace dladvisor
