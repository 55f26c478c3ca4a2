// SPDX-License-Identifier: Apache-2.0
// Data that is sent to the GPU piece by piece: row after row of an array of pointers, parameter after
// parameter.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct CopyRunRow {
  int64_t rank = 0, device = 0, runs = 0, copies = 0, bytes = 0, median_bytes = 0, ns = 0, gpu_ns = 0,
          longest_ns = 0;
};
const RelationOf<CopyRunRow>& CopyRunRelation();

// Runs in the analysed window of at least 100 copies from host to device, each of more than a single value
// and at most 64 KiB and at most 1 ms after the one before, with at most two other operations between them
// (such as what a runtime enters each address with), which take no more than a fifth of the run's time, and
// nothing read back: no piece depends on what was computed since the one before.
std::vector<CopyRunRow> ComputeCopyRuns(const Context& context);

}  // namespace dladvisor
