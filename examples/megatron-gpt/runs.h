// SPDX-License-Identifier: Apache-2.0
// Two training runs of a 360M-parameter Megatron GPT on one RTX A6000, which a workshop profiled with DLProf:
// first in FP32 ("naive"), then in mixed precision. The workshop's slides show, for each, DLProf's summary,
// its ten most expensive ops and its recommendations; what they do not show (all other ops) is filled in so
// that the summary comes out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/generator/nsys_writer.h"

namespace dladvisor::example {

inline constexpr int64_t kMiB = 1 << 20;

// When an op runs. The phases from kInput to kOptimizer repeat with every training step, in this order.
enum class Phase {
  kSetup,
  kInput,
  kForward,
  kBackward,
  kReduce,
  kOptimizer,
  kCheckpoint,     // once, in the middle of training
  kEvaluation,     // after it
  kEndEvaluation,  // after training
  kEndCheckpoint,  // the last thing
};

enum class Thread { kMain, kAutograd, kPinMemory };

// What the GPU time of a part counts as in the run's summary: on tensor cores, else of an op that could use
// them, else other. Parts of ops that the slides show have a known time; those of other ops share what is
// left of the run's total for their kind.
enum class Kind { kKnown, kTensor, kEligible, kOther };

// One kernel of an op, with all its launches.
struct Part {
  std::string kernel;
  Kind kind = Kind::kOther;
  int64_t amount = 0;  // kKnown: ns; else a weight among the parts of its kind
  int64_t launches = 0;
};

struct Op {
  std::string path;    // as DLProf names it, e.g. "/module/pretrain/train/train_step/.../linear"
  std::string type;    // its last function
  std::string module;  // that has the function: "torch.nn.functional", "Tensor", ...
  Phase phase = Phase::kForward;
  Thread thread = Thread::kMain;
  int64_t calls = 0;
  std::string shape, dtype;  // "(8, 512, 1024)", "float32"
  std::vector<Part> parts;
};

struct Run {
  std::string name;                          // of the profile, and of its file
  int64_t wall_ns = 0;                       // from the first event to the last
  int64_t kernel_ns = 0;                     // of all kernels, which never overlap
  int64_t eligible_ns = 0;                   // of ops that could use tensor cores
  int64_t tensor_ns = 0;                     // of that, on tensor cores
  int64_t memory_bytes = 0, peak_bytes = 0;  // of the device; most of it allocated at one time
  int64_t steps = 0;
  // Of the host: building the data set's index, writing a checkpoint, and on average between two ops, where
  // DLProf's wrappers look at the Python stack.
  int64_t setup_ns = 0, save_ns = 0, between_ops_ns = 0;
  uint64_t seed = 0;
  std::vector<Op> ops;
};

// With the times of all parts resolved to ns: every Part::kind is kKnown.
Run NaiveRun();
Run MixedRun();

SystemInfo MachineOfRuns();
GpuInfo GpuOf(const Run& run);

}  // namespace dladvisor::example
