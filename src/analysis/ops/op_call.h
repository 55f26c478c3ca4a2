// SPDX-License-Identifier: Apache-2.0
// Calls of ops one by one, with the GPU work of each: what DLProf's reports are sums of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/context/markers.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

// What the calls of one path, or of one API function outside all ranges, share.
struct CalledOp {
  std::string op, op_type, direction, stack;  // "" where unknown
};

// The nth call of an op in each step: what DLProf lists as an op of its own.
struct OpNode {
  uint32_t op = 0;  // index into OpCalls::ops
  int64_t occurrence = 1;
  std::string id;  // DLProf's: type in capitals, number in order of the first call
  bool tensor_core_eligible = false;
  bool uses_tensor_cores = false, may_use_tensor_cores = false;  // a kernel's name shows it; or does not
};

struct OpCall {
  uint32_t node = 0;  // index into OpCalls::nodes
  std::optional<int64_t> rank, step;
  Ns start = 0, cpu = 0;
  Ns api = 0;   // of `cpu`, inside CUDA calls
  Ns gpu = 0;   // in which any of its kernels, copies and sets ran
  Ns idle = 0;  // between its first and last GPU work, in which none of it ran
  int64_t kernels = 0;
  Ns kernel = 0;               // sum of durations
  uint32_t marker = kNoIndex;  // index into OpCalls::markers
};

// A kernel, copy or set, and the call of an op that launched it.
struct OpWork {
  enum class Kind : uint8_t { kKernel, kCopy, kSet };
  Kind kind = Kind::kKernel;
  uint32_t index = 0;           // in the trace's table of its kind
  uint32_t api = kNoIndex;      // the launching API call
  uint32_t op_call = kNoIndex;  // index into OpCalls::calls
};

struct OpCalls {
  std::vector<CalledOp> ops;
  std::vector<OpNode> nodes;
  std::vector<OpCall> calls;    // by start
  std::vector<Marker> markers;  // the distinct DLProf markers of calls
  std::vector<OpWork> work;
};

// Calls of the ops that `op` lists, and of API functions outside all ranges, which DLProf lists as
// "unassociated_FUNCTION". With steps a call counts where the step of its first GPU work is analysed (without
// any: that of its thread's next call that has some), else where it starts in the rank's window. In a profile
// without GPU work all processes count.
OpCalls ComputeOpCalls(const Context& context);

template <>
inline constexpr Computed kValue<OpCalls>{"op calls", ComputeOpCalls};

}  // namespace dladvisor
