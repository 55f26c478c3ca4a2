// SPDX-License-Identifier: Apache-2.0
// Calls of operators put together that differ in nothing that their work and its rate depend on, and those
// groups put together that one row of op_efficiency lists.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/efficiency/operator_work.h"
#include "src/hardware/precision.h"

namespace dladvisor {

// Calls of one operator with the same arguments on one GPU, in one precision and layout.
struct CallGroup {
  Ns gpu_ns = 0;
  Ns fastest_ns = 0, longest_ns = 0;  // of its calls
  uint32_t gpu = 0;                   // index into ranks.gpus
  uint32_t operation = 0;             // index into OperatorWork::operators
  uint32_t calls = 0, recomputed = 0, kernels = 0;
  uint32_t next_of_operation = kNoIndex, next_of_row = kNoIndex;
  uint8_t layout = 0;         // index into CallGroups::layouts
  uint8_t element_bytes = 0;  // where the type is not recorded: by the kernel's name, 0 where that is silent
  Precision precision = Precision::kUnknown;
  bool winograd = false;
};

// Groups of a rank with the same names, shapes, types, precision and layout.
struct GroupRow {
  uint32_t first = 0, last = 0;  // of a chain of groups
  uint32_t before = kNoIndex;    // the row before it of the rank and of operators with the name and shapes
  Ns gpu_ns = 0;
};

struct CallGroups {
  std::vector<std::string_view> layouts;  // Work::layout; of products without strides by the kernel's name
  std::vector<CallGroup> groups;
  std::vector<GroupRow> rows;     // in the order of their first calls
  std::vector<uint8_t> has_work;  // by GPU, 1 where the work of an operator is known
};

CallGroups GroupCalls(const Context& context, const OperatorWork& work);

// What a row names: "bf16", empty where it is not recorded; "tf32", empty for operators without FLOPs.
std::string_view DataTypeOf(const OperatorWork& work, const CallGroup& group);
std::string_view PrecisionNameOf(const OperatorWork& work, const CallGroup& group);

}  // namespace dladvisor
