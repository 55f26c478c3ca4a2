// SPDX-License-Identifier: Apache-2.0
// What the time of each step went to, as defined by the overview of the PyTorch TensorBoard plugin, and how
// communication and computation share it, as its distributed view does (tb_plugin of
// github.com/pytorch/kineto: event_parser.py, overall_parser.py).
//
// Every moment of a step counts once, for the first of these that goes on in it: a kernel, a copy, a set,
// communication, a call of the CUDA runtime or driver, loading of data (`enumerate(DataLoader)#...__next__`),
// an operator or annotation on the CPU; what is left is other. Communication is kernels of collectives and
// the host's annotations `nccl:...` and `gloo:...`. Steps are cut as profiler_step.h says.
//
// Differences: the plugin takes a kernel for communication where its "External id" is that of such an
// annotation, and in newer traces it is that of record_param_comms; we go by the kernel. It counts
// annotations mirrored onto the GPU as work of the CPU, takes a mirrored step for one more step, and knows no
// driver calls.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct ExecutionSummaryRow {
  int64_t rank = 0, step = 0, start_ns = 0, end_ns = 0, total_ns = 0;
  int64_t kernel_ns = 0, memcpy_ns = 0, memset_ns = 0, communication_ns = 0;
  std::optional<int64_t> runtime_ns, dataloader_ns, cpu_ns;
  int64_t other_ns = 0;
};
const RelationOf<ExecutionSummaryRow>& ExecutionSummaryRelation();

struct DistributedStepRow {
  int64_t rank = 0, step = 0;
  int64_t computation_ns = 0, overlap_ns = 0, communication_ns = 0, other_ns = 0;
  std::optional<int64_t> synchronizing_ns, transfer_ns;
};
const RelationOf<DistributedStepRow>& DistributedStepRelation();

struct StepTimes {
  std::vector<ExecutionSummaryRow> execution;
  std::vector<DistributedStepRow> distributed;
};
StepTimes ComputeStepTimes(const Context& context);

template <>
inline constexpr Computed kValue<StepTimes>{"step times", ComputeStepTimes};

}  // namespace dladvisor
