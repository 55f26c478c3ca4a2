// SPDX-License-Identifier: Apache-2.0
// What a range's name says about a pipeline schedule: the phase, and which micro-batch it works on.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dladvisor {

enum class PipelinePhase : uint8_t { kForward, kBackward, kWeight, kOptimizer };
const char* PipelinePhaseName(PipelinePhase phase);  // "F", "B", "W", "Optimizer"
std::optional<PipelinePhase> PipelinePhaseOf(std::string_view name);

// Whose name it is, the most certain first. Programs without a pipeline use names as those of frameworks,
// too: these count only where the rank sends and receives.
enum class PipelineNaming : uint8_t { kOption, kOwn, kFramework };

struct PipelineName {
  PipelinePhase phase = PipelinePhase::kForward;
  // As the name numbers them. A slice is a part of a micro-batch's sequence.
  std::optional<int64_t> micro_batch, chunk, slice;
  PipelineNaming naming = PipelineNaming::kOwn;
};

// Known names, in this order:
//   the option's         a group named `phase`, else the first group; `micro_batch` and `chunk`, else the
//                        second and third; the first letter is the phase
//   F3  F3.1  F3.1.0     phase, micro-batch, chunk and slice, as zero-bubble's Megatron-LM writes them; B is
//   W_clear.1.0          the gradient of the input where there are W, those of the weights
//   Optimizer
//   PP:1F0  PP:1I0       stage, phase and micro-batch of torch.distributed.pipelining; I is the gradient of
//                        the input
// and as frameworks name them:
//   Forward 3            torch.distributed.pipelining before it named stages
//   forward_step         Megatron-LM, perhaps after the path of its module
//   _exec_forward_pass   DeepSpeed, after its class; _exec_optimizer_step
//   Optimizer.step#...   PyTorch's profiler
class PipelineNames {
 public:
  // REQUIRES: a valid expression, or "".
  explicit PipelineNames(const std::string& pattern);

  std::optional<PipelineName> Parse(std::string_view name) const;

 private:
  std::optional<PipelineName> ParseByOption(std::string_view name) const;

  std::unique_ptr<RE2> pattern_;  // null for none
};

// What is wrong with the expression as such a pattern, or "".
std::string CheckPipelinePattern(const std::string& pattern);

}  // namespace dladvisor
