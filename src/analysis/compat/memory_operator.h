// SPDX-License-Identifier: Apache-2.0
// Memory that operators allocate and free, as the memory view of the PyTorch TensorBoard plugin lists it
// (tb_plugin of github.com/pytorch/kineto: memory_parser.py).
//
//   operator   as in operator.h. An event belongs to the innermost call that is open on its thread then, from
//              the call's start until just before its end; one outside of operators to none.
//   increase   bytes allocated less bytes freed within it. What is freed may be what another operator
//              allocated, so that it can be negative.
//   allocated  bytes allocated within it, whether freed or not
//   self       without operators that it called; else, an operator that calls itself counts its own again
//   calls      all calls, also those that allocate nothing
//
// Differences: the plugin does not count calls within an operator that has no event, does not know AMD's
// devices, and where calls of modules are recorded loses most of the backward pass (see operator.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/context/operator_tree.h"

namespace dladvisor {

struct MemoryOperatorRow {
  int64_t rank = 0;
  std::optional<int64_t> device;
  std::string name;
  int64_t calls = 0, allocations = 0, self_allocations = 0;
  int64_t allocated_bytes = 0, self_allocated_bytes = 0, increase_bytes = 0, self_increase_bytes = 0;
};
const RelationOf<MemoryOperatorRow>& MemoryOperatorRelation();

// Operators that allocate or free. By rank, device (the host last), then self-allocated bytes descending.
std::vector<MemoryOperatorRow> ComputeMemoryOperators(const Context& context, const OperatorTree& tree);

}  // namespace dladvisor
