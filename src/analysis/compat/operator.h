// SPDX-License-Identifier: Apache-2.0
// Operators of the framework, as the operator and kernel views of the PyTorch TensorBoard plugin list them
// (tb_plugin of github.com/pytorch/kineto: op_tree.py, node.py, op_agg.py).
//
//   operator     a range of torch.profiler's `cpu_op`, without DistributedDataParallel.forward,
//                DataParallel.forward, Optimizer.* and data loading; where the profile has none, every
//                push/pop range that is not a step, by its name without what emit_nvtx appends
//   host time    from start to end; self: without operators and calls of modules within it, and without its
//                own CUDA calls
//   device time  sum of durations of the kernels, copies, sets and graphs launched within it; self: by CUDA
//                calls of its own. A call belongs to the innermost operator open on its thread.
//   duplicates   an operator whose only child has its name is one operator with it
//   eligible     matrix work by its name, or with a child that is, or with a tensor-core kernel of its own
//
// Differences: the plugin takes calls to operators by "External id", which some traces give to operators and
// calls differently (then no operator has GPU time, or the wrong one has), and knows no driver calls, so that
// triton's kernels have no operator; we go by nesting. Where calls of modules are recorded it moves backward
// passes into the tree of one thread, and loses those that do not lie within its time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/context/operator_tree.h"

namespace dladvisor {

struct OperatorRow {
  int64_t rank = 0;
  std::string name;
  std::string input_shapes;  // of operator_input
  int64_t calls = 0, host_total_ns = 0, host_self_ns = 0, device_total_ns = 0, device_self_ns = 0;
  bool tensor_core_eligible = false;
  std::optional<double> tensor_core_self_share, tensor_core_total_share;
};
const RelationOf<OperatorRow>& OperatorRelation();
const RelationOf<OperatorRow>& OperatorInputRelation();

struct OperatorKernelRow {
  int64_t rank = 0, device = 0;
  std::string operator_name, kernel, grid, block;
  int64_t registers = 0, shared_bytes = 0;
  int64_t calls = 0, total_ns = 0, min_ns = 0, max_ns = 0;
  std::optional<double> mean_blocks_per_sm, mean_occupancy;
  std::optional<bool> uses_tensor_cores;
  bool tensor_core_eligible = false;
};
const RelationOf<OperatorKernelRow>& OperatorKernelRelation();

// By rank, then self device and host time descending.
std::vector<OperatorRow> ComputeOperators(const Context& context, const OperatorTree& tree);
std::vector<OperatorRow> ComputeOperatorInputs(const Context& context, const OperatorTree& tree);
// By rank, device, then total time descending.
std::vector<OperatorKernelRow> ComputeOperatorKernels(const Context& context, const OperatorTree& tree);

}  // namespace dladvisor
