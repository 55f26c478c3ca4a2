// SPDX-License-Identifier: Apache-2.0
// Where the time of a program goes that is neither a training nor a server, by its output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct ProgramLogRow {
  int64_t profile = 0;
  std::string program;
  std::optional<double> duration_ns;
  std::optional<std::string> kind, name;
  std::optional<int64_t> count, batches, done, total, since;
  std::optional<double> ns, share, each_ns, longest_ns, tokens_per_second, data_share, communication_share,
      queue_share, queue_ns, queued_request_ns;
  std::optional<double> collection_ns, collection_share;
  std::optional<int64_t> data_lines, communication_lines, queue_lines, collection_lines, requests, slots,
      gpus;
  std::optional<bool> collects_for_gpu;
  std::optional<double> request_ns, in_flight, slowest_share, pause_ns, requests_span_ns, idle_share,
      partial_request_ns, whole_request_ns, partial_share;
  std::optional<int64_t> model_layers, gpu_layers, partial_requests;
  std::optional<int64_t> slowest_of_run;
  std::optional<std::string> figures, measured, slowest_time, slowest_purpose;
  std::optional<int64_t> scaling_few, scaling_many, skipped_batches, on_host;
  std::optional<std::string> scaling_name, scaling_unit;
  std::optional<double> rate_of_few, rate_of_many;
  int64_t full_memories = 0;
  std::optional<std::string> error, remedy;
  std::optional<double> gpu_memory_bytes, others_memory_bytes;
};
const RelationOf<ProgramLogRow>& ProgramLogRelation();

struct ProgramPartRow {
  int64_t profile = 0, part = 0;
  std::string kind;
  std::optional<std::string> name;
  int64_t count = 0;
  std::optional<int64_t> done, total, longest_line;
  double ns = 0;
  std::optional<double> share, each_ns, longest_ns;
};
const RelationOf<ProgramPartRow>& ProgramPartRelation();

// One row where the trace holds a program's output, else none.
std::vector<ProgramLogRow> ComputeProgramLog(const Context& context);
std::vector<ProgramPartRow> ComputeProgramParts(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<ProgramLogRow>>{"program_log rows", ComputeProgramLog};
template <>
inline constexpr Computed kValue<std::vector<ProgramPartRow>>{"program_part rows", ComputeProgramParts};

}  // namespace dladvisor
