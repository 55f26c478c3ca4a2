// SPDX-License-Identifier: Apache-2.0
// Calls of operators as a tree, with the CUDA calls and GPU work of each: see operator.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

// Of the ranges that PyTorch's profiler marks as operators.
inline constexpr std::string_view kOperatorDomain = "cpu_op";

struct OperatorCall {
  uint32_t range = kNoIndex;   // index into trace.ranges
  uint32_t parent = kNoIndex;  // index into OperatorTree::calls
  bool is_operator = false;    // else a call of a module, a step or data loading, which operators are within
  bool eligible = false;       // for tensor cores
  int64_t rank = 0;
  Ns host_total = 0, host_self = 0, device_total = 0, device_self = 0;
  Ns tensor_core_total = 0, tensor_core_self = 0;
};

struct OperatorTree {
  std::vector<OperatorCall> calls;  // each before its children
  std::vector<uint32_t> name;       // by name id of trace.ranges.name: 1 + index into `names`, 0 for none
  std::vector<std::string> names;   // that operators are listed by
  std::vector<uint32_t> api_call;   // of each API call the operator call it belongs to, or kNoIndex
};

OperatorTree BuildOperatorTree(const Context& context);

template <>
inline constexpr Computed kValue<OperatorTree>{"operator tree", BuildOperatorTree};

}  // namespace dladvisor
