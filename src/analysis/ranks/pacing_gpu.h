// SPDX-License-Identifier: Apache-2.0
// The GPU that sets the pace of a run, whose time is the run's: what reports split into lost and used time,
// what comparisons and gates read of ranks. Defined once, here.
//
// Ranks that communicate take equally long for a step, each with its own time and the rest waiting, so the
// longest step says nothing. It is the GPU that is late step after step (straggler.h), the latest of several;
// else, by time of its own (step, or window where there are no steps, without exposed communication), the one
// with most. Differences of less than a hundredth are noise: of those that do not differ the one that loses
// least sets the pace, and of equal ones the one with the lowest number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/family/family.h"
#include "src/analysis/ranks/straggler.h"
#include "src/analysis/timeline/time_ledger.h"

namespace dladvisor {

struct PacingGpuRow {
  int64_t rank = 0, device = 0;
  std::string reason;  // straggler, own time, or first of equals
  double own_ns = 0;   // per step, or of the window
};
const RelationOf<PacingGpuRow>& PacingGpuRelation();

// Late step after step, by a hundredth of the step or more and beyond how far the others lie apart.
bool IsLateAlways(const StragglerRow& row);

// One row; none without a ledger.
std::vector<PacingGpuRow> FindPacingGpu(std::span<const TimeLedgerRow> ledger,
                                        std::span<const StragglerRow> stragglers);

std::vector<PacingGpuRow> PacingGpuOfFleet(const RowsOfFleet<TimeLedgerRelation>& ledger,
                                           const Stragglers& stragglers);

}  // namespace dladvisor
