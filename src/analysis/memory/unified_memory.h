// SPDX-License-Identifier: Apache-2.0
// Unified (managed) memory: page faults and migrations, in the analysed window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct UnifiedMemoryRow {
  int64_t rank = 0, device = 0;
  std::optional<int64_t> gpu_faults, gpu_fault_ns, cpu_faults, host_fault_ns;
  int64_t migrations = 0, to_device_bytes = 0, to_host_bytes = 0, migration_ns = 0, turns = 0,
          host_access_ns = 0, kernel_wait_ns = 0, arriving_ns = 0;
};
const RelationOf<UnifiedMemoryRow>& UnifiedMemoryRelation();

// A row per GPU with faults or migrations. Faults of the CPU count for each GPU of the process.
std::vector<UnifiedMemoryRow> ComputeUnifiedMemory(const Context& context);

}  // namespace dladvisor
