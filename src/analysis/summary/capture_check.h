// SPDX-License-Identifier: Apache-2.0
// Whether what a profile recorded fits together. The checks are those of PyTorch's trace validator
// (torch/profiler/_trace_validator.py), for every profiler that records what they look at, and one more: a
// wait may begin while its kernel runs, but one that ends before its kernel shows clocks that differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct CaptureCheckRow {
  int64_t profile = 0;
  std::string check;
  int64_t checked = 0, violations = 0;
  std::optional<int64_t> worst_ns;
  std::optional<std::string> example;
};
const RelationOf<CaptureCheckRow>& CaptureCheckRelation();

// Checks that found nothing to look at have no row.
std::vector<CaptureCheckRow> ComputeCaptureChecks(const Context& context);

}  // namespace dladvisor
