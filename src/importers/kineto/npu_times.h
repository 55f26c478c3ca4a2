// SPDX-License-Identifier: Apache-2.0
// What Ascend's profiler says of the NPU by name: how long it computes, communicates while it computes
// nothing, and is free, and what the host takes to compile operators for it.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/trace/trace.h"

namespace dladvisor::kineto {

struct NpuTimes {
  Ns computing = 0, communicating = 0, free = 0, compiling = 0;
  int64_t compiled = 0;

  // An event without a category.
  void Add(std::string_view name, Ns length);
  void Append(const NpuTimes& later);
  void Describe(Trace& trace) const;  // as facts
};

}  // namespace dladvisor::kineto
