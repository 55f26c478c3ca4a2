// SPDX-License-Identifier: Apache-2.0
// Sorting the rows of a struct of arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/int_column.h"
#include "src/trace/trace.h"

namespace dladvisor {

// The order of rows by start (ties: `before`, then their order), empty where they are sorted already.
template <typename Before>
std::vector<uint32_t> OrderByStart(const std::vector<Ns>& start, Before before) {
  bool sorted = true;
  for (size_t i = 1; sorted && i < start.size(); ++i)
    sorted = start[i - 1] < start[i] || (start[i - 1] == start[i] && !before(i, i - 1));
  if (sorted) return {};
  const auto earlier = [&](uint32_t a, uint32_t b) {
    return start[a] != start[b] ? start[a] < start[b] : before(a, b);
  };
  // Profilers write the rows of one process or thread after those of another, each in order: runs, which are
  // merged two by two.
  std::vector<uint32_t> order(start.size());
  std::vector<size_t> runs;  // where each begins
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<uint32_t>(i);
    if (i == 0 || earlier(order[i], order[i - 1])) runs.push_back(i);
  }
  for (std::vector<uint32_t> merged(order.size()); runs.size() > 1; order.swap(merged)) {
    std::vector<size_t> longer;
    for (size_t r = 0; r < runs.size(); r += 2) {
      const auto at = [&](size_t run) {
        return static_cast<std::ptrdiff_t>(run < runs.size() ? runs[run] : order.size());
      };
      const auto first = order.begin();
      std::merge(first + at(r), first + at(r + 1), first + at(r + 1), first + at(r + 2),
                 merged.begin() + at(r), earlier);
      longer.push_back(runs[r]);
    }
    runs = std::move(longer);
  }
  return order;
}

inline std::vector<uint32_t> OrderByStart(const std::vector<Ns>& start) {
  return OrderByStart(start, [](size_t, size_t) { return false; });
}

template <typename T>
void ReorderColumn(const std::vector<uint32_t>& order, std::vector<T>& column,
                   std::vector<std::byte>& scratch) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    scratch.resize(std::max(scratch.size(), order.size() * sizeof(T)));
    for (size_t i = 0; i < order.size(); ++i)
      std::memcpy(scratch.data() + i * sizeof(T), &column[order[i]], sizeof(T));
    std::memcpy(column.data(), scratch.data(), order.size() * sizeof(T));
  } else {
    std::vector<T> sorted;
    for (const uint32_t i : order) sorted.push_back(std::move(column[i]));
    column = std::move(sorted);
  }
}

inline void ReorderColumn(const std::vector<uint32_t>& order, IntColumn& column,
                          std::vector<std::byte>& scratch) {
  column.Reorder(order, scratch);
}

// Puts row order[i] of every column at i; an empty order changes nothing. One buffer serves all columns:
// memory that is touched for the first time costs more than
// what is done in it.
template <typename... Columns>
void Reorder(const std::vector<uint32_t>& order, Columns&... columns) {
  if (order.empty()) return;
  std::vector<std::byte> scratch;
  (ReorderColumn(order, columns, scratch), ...);
}

}  // namespace dladvisor
