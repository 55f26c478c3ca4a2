// SPDX-License-Identifier: Apache-2.0
// Facts about the profile itself: what was captured, how well, and what is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct ProfileRow {
  int64_t profile = 0;
  std::string path, format;
  std::optional<std::string> producer_version, schema_version;
  std::optional<int64_t> recorded_rank, recorded_node, recorded_local_rank;
  std::optional<std::string> recorded_rank_source;
  std::optional<int64_t> duplicate_of;
  std::optional<int64_t> session_ns, clock_origin_utc_ns, clock_origin_local_ns;
  int64_t kernels = 0, copies = 0, sets = 0, graph_launches = 0, api_calls = 0, syncs = 0, ranges = 0,
          python_frames = 0, os_calls = 0, gpu_metric_samples = 0, telemetry_samples = 0, training_lines = 0,
          serving_lines = 0, program_parts = 0, summary_rows = 0, memory_events = 0, skipped_rows = 0,
          counter_ranges = 0, unmatched_kernels = 0, launches_after_last = 0;
  std::optional<int64_t> npu_computing_ns, npu_communicating_ns, npu_free_ns, npu_compiling_ns, npu_compiled;
  std::optional<double> unmatched_share, inherited_share;
  std::optional<int64_t> gradient_calls, backward_calls, training_norms;
  int64_t open_ranges = 0, out_of_order = 0, negative_durations = 0, overhead_ns = 0;
  std::optional<double> overhead_share;
  int64_t diagnostics = 0;
  int64_t unknown_rows = 0;
  std::optional<std::string> unknown_kinds;
  std::optional<std::string> missing_tables, notes;
  bool has_cuda = false, has_api = false, has_ranges = false, has_os_calls = false, has_syncs = false;
  std::optional<std::string> missing_capture;
  bool truncated = false;
  std::optional<bool> gpu_traced;
  std::optional<std::string> ended_by;
  std::optional<bool> context_created, never_written;
  std::optional<std::string> stack_call, stack_wait;
  std::optional<int64_t> stack_wait_ns;
  std::optional<std::string> program_error;
};
const RelationOf<ProfileRow>& ProfileRelation();
ProfileRow ComputeProfile(const Context& context);

struct DiagnosticRow {
  int64_t profile = 0, n = 0, severity = 0;
  std::string text;
};
const RelationOf<DiagnosticRow>& DiagnosticRelation();
std::vector<DiagnosticRow> ComputeDiagnostics(const Context& context);

}  // namespace dladvisor
