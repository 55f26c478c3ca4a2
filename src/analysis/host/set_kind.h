// SPDX-License-Identifier: Apache-2.0
// Memory sets by kind of memory and whether the host waits. Sets of device memory return at once whatever the
// call; of pinned and managed memory a call without Async blocks (Nsight Systems, rule cuda_memset_sync).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct SetKindRow {
  int64_t rank = 0, device = 0;
  std::string memory, blocking;
  int64_t sets = 0, bytes = 0, total_ns = 0, call_ns = 0, window_sets = 0, window_call_ns = 0;
};
const RelationOf<SetKindRow>& SetKindRelation();

std::vector<SetKindRow> ComputeSetKinds(const Context& context);

}  // namespace dladvisor
