// SPDX-License-Identifier: Apache-2.0
// How fast an engine of TensorRT runs, as trtexec measured it, and what of that is the GPU, the host and
// copies.
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

struct EngineTestRow {
  int64_t profile = 0, test = 0;
  double queries_per_s = 0;
  std::optional<int64_t> batch, graph;
  std::optional<double> samples_per_s;
  std::optional<std::string> precision;
  std::optional<double> latency_ns, enqueue_ns, upload_ns, compute_ns, download_ns, compute_share;
};
const RelationOf<EngineTestRow>& EngineTestRelation();

std::vector<EngineTestRow> ComputeEngineTests(const Context& context);

// In words: "345 inferences/s of 2.90 ms, the fastest of 6 results"; "" for none.
std::string EnginesText(const std::vector<EngineTest>& tests);

template <>
inline constexpr Computed kValue<std::vector<EngineTestRow>>{"engine_test rows", ComputeEngineTests};

}  // namespace dladvisor
