// SPDX-License-Identifier: Apache-2.0
// The work of the operators that launched the kernels of the analysed window.
//
// A kernel counts to the innermost operator around its launch whose work is known (work.h): aten::linear
// calls aten::addmm, which launches the kernel, and only the latter counts. Where an operator has FLOPs and
// one within it has some, too, those are the same ones, and the outer one's own kernels are of unknown work.
// Backward operators without shapes have those of their forward operator, which autograd's number connects.
// Kernels of CUDA graphs belong to no operator, since what launched the graph says nothing of each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/efficiency/distinct_operators.h"
#include "src/analysis/efficiency/operator_shapes.h"
#include "src/analysis/family/values.h"
#include "src/analysis/work/work.h"

namespace dladvisor {

struct OperatorWorkCall {
  uint32_t range = kNoIndex;   // index into trace.ranges
  uint32_t operation = 0;      // index into OperatorWork::operators
  uint32_t kernel = kNoIndex;  // the one that lasts longest, of those that compute products if there are any
  uint32_t kernels : 31 = 0;
  uint32_t winograd : 1 = 0;  // a kernel's name shows an algorithm with fewer operations than are counted
  Ns kernel_ns = 0;           // sum of durations
};

struct OperatorWork {
  DistinctOperators operators;
  std::vector<std::string_view> names;  // "aten::addmm", each once, of texts of the context
  OperatorShapes shapes;
  // Of each of ranks.gpus.
  struct OfGpu {
    std::vector<OperatorWorkCall> calls;  // in order of their first kernels; none where no shape is recorded
    Ns kernel_ns = 0;                     // of all kernels in the window but collectives
    Ns attributed_ns = 0;                 // of those, in `calls`
  };
  std::vector<OfGpu> gpus;
  std::vector<uint8_t> recomputed;  // by range, 1 where a call is repeated for a backward pass; may be empty

  bool IsRecomputed(const OperatorWorkCall& call) const {
    return !recomputed.empty() && recomputed[call.range] != 0;
  }
};

OperatorWork ComputeOperatorWork(const Context& context);

template <>
inline constexpr Computed kValue<OperatorWork>{"operator work", ComputeOperatorWork};

}  // namespace dladvisor
