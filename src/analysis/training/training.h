// SPDX-License-Identifier: Apache-2.0
// A training as a whole, as reported by its log: pace, losses of work, parallel sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/analysis/training/training_log.h"

namespace dladvisor {

struct TrainingRow {
  int64_t profile = 0;
  std::string program, unit;
  int64_t lines = 0, attempts = 0;
  std::optional<int64_t> iterations, steady_iterations, first_iteration, first_steady_iteration,
      last_iteration, planned, loss_lines, first_steps;
  std::optional<double> mean_ns, median_ns, stddev_ns, slowest_ns, total_ns, runtime_ns, samples_per_second,
      tokens_per_second, tflops_per_gpu, model_tflops_per_gpu, mfu, printed_mfu;
  std::optional<std::string> unknown_reason, error, remedy, accelerator;
  std::optional<int64_t> evaluations;
  std::optional<double> evaluation_ns, between_epochs_ns, since_checkpoint_ns, gaps_ns, longest_gap_ns,
      repeated_ns;
  std::optional<int64_t> repeated_iterations;
  std::optional<double> gpu_memory_bytes, others_memory_bytes;
  std::optional<int64_t> gaps, longest_gap_after;
  std::optional<int64_t> epoch_ends, flushed_iterations, other_lines;
  std::optional<int64_t> skipped, nan, slow_lines;
  std::optional<double> slow_ns, fast_stretch_ns, slow_stretch_ns, slow_stretches_lost_ns,
      fast_stretch_tokens_per_second, slow_stretch_tokens_per_second, slow_stretches_lost_share, early_ns,
      late_ns, growth_lost_ns;
  std::optional<int64_t> odd_first, odd_last, odd_lines, odd_pace_lines, other_pace_lines;
  std::optional<double> odd_pace_ns, other_pace_ns;
  std::optional<int64_t> level_from, level_to;
  std::optional<double> level_before_ns, level_after_ns, level_lost_ns;
  std::optional<int64_t> stalls, stalls_with_checkpoint, stalls_with_evaluation, longest_stall_after;
  std::optional<double> stalls_ns, longest_stall_ns;
  std::optional<int64_t> world_size, tensor_parallel, pipeline_parallel, data_parallel, virtual_stages,
      micro_batch, global_batch, micro_batches, seq_length;
  std::optional<std::string> precision, recompute;
  std::optional<double> bubble_share;
};
const RelationOf<TrainingRow>& TrainingRelation();

// One row where the trace holds a training's log, else none.
std::vector<TrainingRow> ComputeTrainings(const Context& context, const std::vector<TrainingLogRow>& log);

template <>
inline constexpr Computed kValue<std::vector<TrainingRow>>{"training rows", ComputeTrainings};

}  // namespace dladvisor
