// SPDX-License-Identifier: Apache-2.0
// CUDA streams per rank and device: what runs on them, and beside each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct StreamRow {
  int64_t rank = 0, device = 0, stream = 0;
  std::string kind;
  int64_t kernels = 0, kernel_ns = 0, copies = 0, copy_ns = 0, busy_ns = 0, overlap_ns = 0, stretches = 0;
};
const RelationOf<StreamRow>& StreamRelation();

std::vector<StreamRow> ComputeStreams(const Context& context);

}  // namespace dladvisor
