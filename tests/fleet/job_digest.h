// SPDX-License-Identifier: Apache-2.0
// Profiles of a simulated job without files: what Nsight Systems would have recorded, analysed and put
// together.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/data-parallel/job.h"
#include "src/fleet/digest_file.h"

namespace dladvisor::test {

struct Recording {
  int64_t clock_offset_ns = 0;      // between the clocks of successive nodes
  std::vector<int64_t> ranks = {};  // those recorded; all where it is empty
  std::vector<int64_t> half = {};   // ranks of which only the first half of the steps was recorded
};

// The digest of all ranks that were recorded, with the results of comparing them.
Digest DigestOfJob(const example::Job& job, const Recording& recording = {});

}  // namespace dladvisor::test
