// SPDX-License-Identifier: Apache-2.0
// Attention that is written out, found by its pattern and not by names of kernels: a product that gives
// scores [queries, keys], operators on these scores with a softmax among them, or what one is made of (the
// exponential of them), and a product of the scores [queries, keys] with the values. A fused kernel
// (FlashAttention) never writes the scores. Backward, a product gives the scores' gradient, and up to two
// take it; the gradient of the values stands beside the first.
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

struct AttentionBlockRow {
  int64_t rank = 0;
  std::string direction, softmax;
  int64_t batch = 0, queries = 0, keys = 0, head_size = 0, value_size = 0;
  std::string data_type;
  std::string ops;
  int64_t blocks = 0, kernels = 0, gpu_ns = 0, score_ns = 0, copy_ns = 0;
  std::optional<double> kernel_share;
  std::optional<double> flops, fused_bytes, fused_ns, headroom_ns;
};
const RelationOf<AttentionBlockRow>& AttentionBlockRelation();

// By rank, most GPU time first.
std::vector<AttentionBlockRow> ComputeAttentionBlocks(const Context& context, const OperatorWork& work,
                                                      const std::vector<GpuPeaks>& peaks);

}  // namespace dladvisor
