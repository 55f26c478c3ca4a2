// SPDX-License-Identifier: Apache-2.0
// Which process is which rank, and what ran where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

// What a profile of one process records about its place in the job; nothing where it records none.
struct RecordedRank {
  std::optional<int64_t> rank, node, local_rank;
  std::string by;  // how the rank is known: profile, environment, range (`epoch1_step2003-rank0-...`), or ""
};
RecordedRank FindRecordedRank(const Trace& trace);

Ranks FindRanks(const Trace& trace, const AnalysisOptions& options);
std::vector<GpuWork> SplitWork(const Trace& trace, const Ranks& ranks);

// From the first API call, range or GPU operation to the last one's end; empty where there is none. Ranges
// that were never closed count with their start only.
Interval FindActivity(const Trace& trace);

}  // namespace dladvisor
