// SPDX-License-Identifier: Apache-2.0
// Facts per op: what DLProf's "Ops", "Op Type Summary" and "Group Ops" show.
#pragma once

#include <cstdint>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/analysis/ops/op_rows.h"

namespace dladvisor {

struct OpFamilies {
  std::vector<OpRow> ops;  // by rank, then GPU time descending
  std::vector<OpTypeRow> op_types;
  std::vector<GroupOpRow> groups;
  // By index into ranks.gpus: kernel time in the window of eligible ops, the part of it on tensor cores, and
  // the part whose use of tensor cores is not known.
  std::vector<int64_t> eligible_ns, eligible_tensor_core_ns, eligible_unknown_ns;
};

// Counts what starts in the rank's window. Ops are the ranges that own launches directly and DLProf's marked
// ops; kernels outside all ranges form ops of their own, "(no range)/KERNEL".
OpFamilies ComputeOps(const Context& context);

template <>
inline constexpr Computed kValue<OpFamilies>{"ops", ComputeOps};

}  // namespace dladvisor
