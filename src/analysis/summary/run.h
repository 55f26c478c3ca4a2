// SPDX-License-Identifier: Apache-2.0
// The run as a whole: one row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/efficiency/op_efficiency.h"
#include "src/analysis/summary/gpu.h"
#include "src/analysis/summary/program_kind.h"
#include "src/analysis/timeline/step.h"
#include "src/analysis/training/training.h"

namespace dladvisor {

struct RunRow {
  std::string name;
  std::optional<std::string> kind, kind_evidence;
  int64_t ranks = 0, gpus = 0, wall_ns = 0;
  std::optional<int64_t> program_ns, gpu_span_ns, before_work_ns, after_work_ns;
  std::optional<int64_t> start_up_ns, first_use_ns, ptx_compiling_ns, window_ns, window_start_ns,
      window_end_ns;
  std::optional<std::string> first_use_call;
  int64_t steps = 0, total_steps = 0;
  std::optional<int64_t> first_step, last_step;
  std::optional<double> step_ns, step_stddev_ns;
  std::optional<std::string> step_source, step_pattern, measured;
  std::optional<double> gpu_utilization, tensor_core_efficiency;
  std::optional<int64_t> kernel_ns, eligible_ops, eligible_half_ops, half_kernel_ns;
  int64_t launches_through_graphs = 0;
  std::optional<double> memory_used_share, samples_per_second, known_work_share, mfu, hfu, speed_of_light,
      cost;
};
const RelationOf<RunRow>& RunRelation();

// The run of several profiles: `runs` of each, `gpus` of all. Steps are those of the first with steps, the
// window that which is longest, the step that of the slowest rank. Where some hold GPU work, the others,
// logs, contribute only the throughput.
RunRow MergeRuns(const std::vector<RunRow>& runs, const std::vector<GpuRow>& gpus);

// Of a run of which there is no trace, the training's log gives steps and throughput.
RunRow ComputeRun(const Context& context, const std::vector<GpuRow>& gpus, const std::vector<StepRow>& steps,
                  const OpFamilies& ops, const OpEfficiencies& efficiencies,
                  const std::vector<TrainingRow>& trainings, const std::vector<GpuKernels>& kernels,
                  const std::optional<ProgramKind>& kind);

}  // namespace dladvisor
