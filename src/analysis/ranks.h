// Which process is which rank, and what ran where.
#pragma once

#include <vector>

#include "src/analysis/context.h"

namespace dladvisor {

Ranks FindRanks(const Trace& trace, const AnalysisOptions& options);
std::vector<GpuWork> SplitWork(const Trace& trace, const Ranks& ranks);

// From the first API call, range or GPU operation to the last one's end; empty where there is none. Ranges
// that were never closed count with their start only.
Interval FindActivity(const Trace& trace);

}  // namespace dladvisor
