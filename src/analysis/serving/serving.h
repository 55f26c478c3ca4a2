// SPDX-License-Identifier: Apache-2.0
// A server of language models as a whole, as reported by its log: load, throughput, limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/analysis/serving/serving_log.h"

namespace dladvisor {

struct ServingRow {
  int64_t profile = 0;
  std::string program;
  std::optional<std::string> accelerator;
  int64_t lines = 0, loaded_lines = 0, passed_lines = 0, engines = 0;
  std::optional<int64_t> duration_ns;
  std::optional<double> mean_running, mean_waiting, mean_transferring;
  std::optional<int64_t> most_running, most_waiting;
  std::optional<int64_t> waiting_lines, full_lines, capped_lines;
  std::optional<double> most_cache_used, mean_cache_used, prompt_tokens_per_second,
      generated_tokens_per_second, most_generated_tokens_per_second;
  std::optional<double> accepted_share, accepted_length, prefix_hit_share;
  std::optional<int64_t> gpu_layers, layers, cache_tokens, max_running, seen_limit, max_length;
  int64_t preemptions = 0;
  std::optional<bool> eager;
  std::optional<std::string> error, remedy;
  std::optional<double> gpu_memory_bytes, others_memory_bytes;
  bool default_moe = false;
  int64_t untuned_shapes = 0;
  std::optional<double> host_weights_bytes;
  std::optional<std::string> forced_quantization, faster_quantization, last_stage, links;
  std::optional<int64_t> starts;
  std::optional<double> weights_bytes;
  std::optional<double> start_ns, weights_ns, download_ns, compile_ns, capture_ns, build_ns, engine_begins_ns,
      span_ns, served_ns, idle_ns;
};
const RelationOf<ServingRow>& ServingRelation();

// One row where the trace holds a server's log, else none.
std::vector<ServingRow> ComputeServing(const Context& context, const std::vector<ServingLogRow>& log);

template <>
inline constexpr Computed kValue<std::vector<ServingRow>>{"serving rows", ComputeServing};

}  // namespace dladvisor
