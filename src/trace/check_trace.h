// SPDX-License-Identifier: Apache-2.0
// Whether a trace keeps its contract (trace.h): for tests of importers, and for finding out where a trace
// went wrong.
#pragma once

#include <string>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor {

// One sentence for each way in which each column breaks the contract, e.g. "kernel.device: row 3 refers to 7
// of 2"; empty where all is as it must be. Columns are counted from 0 where SQL does not show them.
std::vector<std::string> CheckTrace(const Trace& trace);

}  // namespace dladvisor
