// SPDX-License-Identifier: Apache-2.0
// What a server answers under more and more requests at once, as Triton's perf_analyzer measured it, and what
// of the latency is waiting in its queue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/trace/program_output.h"

namespace dladvisor {

struct LoadTestRow {
  int64_t profile = 0, test = 0, concurrency = 0;
  double infer_per_s = 0;
  std::optional<double> latency_ns, server_ns, queue_ns, compute_ns, copy_ns, queue_share, per_execution;
};
const RelationOf<LoadTestRow>& LoadTestRelation();

std::vector<LoadTestRow> ComputeLoadTests(const Context& context);

// In words: "9.33 inferences/s with 8 requests at once, the most of 6 results"; "" for none.
std::string LoadsText(const std::vector<LoadTest>& tests);

template <>
inline constexpr Computed kValue<std::vector<LoadTestRow>>{"load_test rows", ComputeLoadTests};

}  // namespace dladvisor
