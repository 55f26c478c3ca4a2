// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing: parts of the forward pass that run again in the backward pass, to save memory.
//
// PyTorch numbers the operators of a forward pass, and a node of the backward pass by the thread of its
// operator. A numbered operator within such a node is computed again: in the node of a function of
// checkpointing (CheckpointFunctionBackward, of PyTorch, Megatron and DeepSpeed), or in whichever node first
// asks for what was not kept. Derivatives that are to be derived themselves (create_graph=True) are numbered
// as well: without such a function count only operators of which most stand as the forward pass called them,
// with one among them that no formula of a derivative calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

// What runs again at a time: from the start of its node, whose first work is to set up what was (the state of
// random numbers, autocast), to its last operator's end.
struct RecomputedSegment {
  uint32_t thread = kNoIndex;
  Interval time;
  size_t operators = 0;  // that are within no other
};
// By thread, in order of time.
using RecomputedSegments = std::vector<RecomputedSegment>;
RecomputedSegments FindRecomputation(const Context& context);

template <>
inline constexpr Computed kValue<RecomputedSegments>{"recomputed segments", FindRecomputation};

struct RecomputationRow {
  int64_t rank = 0, segments = 0, operators = 0, host_ns = 0, gpu_ns = 0;
};
const RelationOf<RecomputationRow>& RecomputationRelation();

}  // namespace dladvisor
