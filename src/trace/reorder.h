// SPDX-License-Identifier: Apache-2.0
// Sorting the rows of a struct of arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/int_column.h"
#include "src/trace/trace.h"

namespace dladvisor {

// The order of rows by start, of rows that start together their own order; empty where they are sorted
// already.
std::vector<uint32_t> OrderByStart(const std::vector<Ns>& start);

// The same, but rows that start together are in the order of `before`, and only then in their own.
template <typename Before>
std::vector<uint32_t> OrderByStart(const std::vector<Ns>& start, Before before) {
  std::vector<uint32_t> order = OrderByStart(start);
  const auto row = [&](size_t i) { return order.empty() ? static_cast<uint32_t>(i) : order[i]; };
  for (size_t first = 0, last = 0; first < start.size(); first = last) {
    bool in_order = true;
    for (last = first + 1; last < start.size() && start[row(last)] == start[row(first)]; ++last)
      in_order &= !before(row(last), row(last - 1));
    if (in_order) continue;
    if (order.empty()) {
      order.resize(start.size());
      std::iota(order.begin(), order.end(), 0);
    }
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(first),
                     order.begin() + static_cast<std::ptrdiff_t>(last), before);
  }
  return order;
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
// memory that is touched for the first time costs more than what is done in it.
template <typename... Columns>
void Reorder(const std::vector<uint32_t>& order, Columns&... columns) {
  if (order.empty()) return;
  std::vector<std::byte> scratch;
  (ReorderColumn(order, columns, scratch), ...);
}

}  // namespace dladvisor
