// SPDX-License-Identifier: Apache-2.0
// Writes a simulated job as Nsight Systems exports, one per rank.
#pragma once

#include <filesystem>
#include <vector>

#include "examples/data-parallel/job.h"
#include "examples/generator/nsys_schema.h"

namespace dladvisor::example {

// job_NODE_LOCALRANK.sqlite in `folder`, which is created. Clocks of nodes are off by `clock_offset_ns` times
// the number of the node. `ranks` are written, all where it is empty. Throws Error.
void WriteJob(const Job& job, const std::filesystem::path& folder, const NsysSchema& schema,
              int64_t clock_offset_ns = 0, const std::vector<int64_t>& ranks = {});

}  // namespace dladvisor::example
