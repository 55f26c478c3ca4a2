// SPDX-License-Identifier: Apache-2.0
// Tensors that the host fills and then copies to the GPU, which could fill them itself: torch.zeros(n).cuda()
// in place of torch.zeros(n, device="cuda"). Source of the pattern: torch.profiler's pattern matcher
// (ExtraCUDACopyPattern).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct FilledCopyRow {
  int64_t rank = 0;
  std::string op, site;
  std::optional<std::string> line;
  int64_t copies = 0, host_ns = 0;
  std::optional<int64_t> bytes;
  double window_share = 0;
};
const RelationOf<FilledCopyRow>& FilledCopyRelation();

// Copies to the device whose operator (aten::to, aten::copy_) directly follows one of the same thread and
// caller that fills a tensor on the host, of the same shape where shapes were recorded; those that start in
// the window of the rank. Most host time first.
std::vector<FilledCopyRow> ComputeFilledCopies(const Context& context);

}  // namespace dladvisor
