// SPDX-License-Identifier: Apache-2.0
// Kernels that ATen operators launch, in order, and how long launches take, as Holistic Trace Analysis lists
// them (github.com/facebookresearch/HolisticTraceAnalysis: cuda_kernel_analysis.py,
// get_aten_op_kernels_and_delay). A launch of a kernel belongs to the innermost operator "aten::..." open on
// its thread. Delays are of the first launch of each call of an operator.
//
// Differences: HTA takes operators of any thread, one of several that start together by chance, and adds the
// launches of one rank to the next one's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct OperatorSequenceRow {
  int64_t rank = 0;
  std::string operator_name, kernels;
  int64_t occurrences = 0;
  double mean_launch_delay_ns = 0, mean_start_delay_ns = 0;
};
const RelationOf<OperatorSequenceRow>& OperatorSequenceRelation();

// By rank, then occurrences descending.
std::vector<OperatorSequenceRow> ComputeOperatorSequences(const Context& context);

}  // namespace dladvisor
