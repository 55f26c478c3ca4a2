// SPDX-License-Identifier: Apache-2.0
// What Ascend's profiler says of the NPU by name: how long it computes, communicates while it computes
// nothing, and is free, and what the host takes to compile operators for it.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "src/trace/trace.h"

namespace dladvisor::kineto {

struct NpuTimes {
  // Sums stay at the ends of their type.
  Ns computing = 0, communicating = 0, free = 0, compiling = 0;
  int64_t compiled = 0;
  // From the first of the three states to the end of the last.
  Ns begin = std::numeric_limits<Ns>::max(), end = std::numeric_limits<Ns>::min();

  // An event without a category.
  void Add(std::string_view name, Ns start, Ns length);
  void Append(const NpuTimes& later);
  // As facts: no states that last longer together than from the first to the last, as those of several NPUs
  // do.
  void Describe(Trace& trace) const;
};

}  // namespace dladvisor::kineto
