// SPDX-License-Identifier: Apache-2.0
// What XLA's profiler writes of kernels and copies as one text each.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/trace/events.h"
#include "src/trace/kinds.h"

namespace dladvisor::xla {

// "regs:168 static_shared:0 dynamic_shared:231424 grid:64,2,1 block:384,1,1 occ_pct:18.75"
struct KernelDetails {
  LaunchShape shape;
  int64_t registers = 0, shared_bytes = 0;
};
KernelDetails KernelDetailsOf(std::string_view text);

// "kind_src:pinned kind_dst:device size:33554432 dest:0 async:1"
struct CopyDetails {
  int64_t bytes = 0;
  MemoryKind from = MemoryKind::kUnknown, to = MemoryKind::kUnknown;
  bool is_async = true;
};
CopyDetails CopyDetailsOf(std::string_view text);

// Of "MemcpyH2D".
CopyDirection DirectionOf(std::string_view name);

}  // namespace dladvisor::xla
