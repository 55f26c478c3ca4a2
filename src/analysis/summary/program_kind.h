// SPDX-License-Identifier: Apache-2.0
// What kind of program was profiled, from what it ran. The first that holds:
// - log: a log of training or telemetry, without a trace.
// - accelerator: no GPU work, but events of another accelerator (MTIA, ...), which are not read.
// - host: no GPU work, no sign that a GPU was used, and work that only hosts run (mkldnn and THNN operators,
//   gloo), operators of PyTorch's profiler beside its empty list of GPUs, a product of it that takes a
//   millisecond and more beside calls to CUDA of which none launches, or Python functions and not one
//   operator.
// - graph-capture: streams are captured, and hardly a launched kernel ran, or most launches are between the
//   calls that begin and end a capture: they were written into a graph.
// - one-shot: GPU work that does not repeat: fewer than three steps, and few kernels, each of which ran fewer
//   than five times in the mean, or all of which take less than a millisecond, or are over in less than 50 ms
//   and less than the program's start took, or fewer kernels of a network than copies that load it before
//   them: a test, a demonstration, a single cold call. A step of PyTorch's profiler that is not its first
//   comes from a loop.
// - serving: an inference server (vLLM, SGLang, TensorRT-LLM), by its ranges or kernels.
// - training: a backward pass or an update of parameters, by ranges or kernels.
// - inference: other work of a framework of neural networks.
// - computing: other GPU work.
// Not known where no GPU work was recorded and nothing says that there was none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

namespace program_kind {
inline constexpr std::string_view kLog = "log", kAccelerator = "accelerator", kHost = "host",
                                  kGraphCapture = "graph-capture", kOneShot = "one-shot",
                                  kServing = "serving", kTraining = "training", kInference = "inference",
                                  kComputing = "computing";
}  // namespace program_kind

struct ProgramKind {
  std::string_view kind;
  std::string evidence;  // a name that shows it, or counts
};

std::optional<ProgramKind> FindProgramKind(const Context& context);

template <>
inline constexpr Computed kValue<std::optional<ProgramKind>>{"kind of program", FindProgramKind};

// Of a program of several profiles, the one of two kinds that says more: a rank that trains is part of a
// training.
std::string_view StrongerKind(std::string_view a, std::string_view b);

}  // namespace dladvisor
