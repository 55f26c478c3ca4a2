// SPDX-License-Identifier: Apache-2.0
// Operators that one kernel could do: chains of element-wise operators, reductions, normalisations, softmax
// and copies, launched one after the other by one thread on one stream, each of which takes a tensor with as
// many elements as the one before gave. Profilers record shapes, but neither addresses nor identities of
// tensors: two tensors of one size cannot be told apart. A fused kernel keeps what passes between them in
// registers: of a chain's compulsory traffic it leaves out each such tensor twice, written and read. That is
// a bound: what a backward pass needs is written all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/efficiency/operator_work.h"
#include "src/analysis/hardware/gpu_peak.h"

namespace dladvisor {

struct FusionCandidateRow {
  int64_t rank = 0;
  std::string ops, shapes, purpose;
  int64_t operators = 0, chains = 0, kernels = 0, gpu_ns = 0;
  std::optional<double> kernel_share;
  std::optional<int64_t> bytes, fused_bytes;
  std::optional<double> fused_ns, headroom_ns;
};
const RelationOf<FusionCandidateRow>& FusionCandidateRelation();

// By rank, most GPU time first.
std::vector<FusionCandidateRow> ComputeFusionCandidates(const Context& context, const OperatorWork& work,
                                                        const std::vector<GpuPeaks>& peaks);

}  // namespace dladvisor
