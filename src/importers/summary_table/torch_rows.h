// SPDX-License-Identifier: Apache-2.0
// Rows of the tables that PyTorch's profiler prints, put right once they are all there.
#pragma once

#include <vector>

#include "src/trace/summary_table.h"

namespace dladvisor::summary_table {

// Calls of one kernel with other grids, and of one operator with other shapes, stand in rows of their own.
void JoinRowsOfOneName(std::vector<SummaryRow>& rows);

// What spans the GPU's work of a range has the range's name; it is no kernel.
void DropSpans(std::vector<SummaryRow>& rows);
// The same where the ranges' own names are not known: what the GPU's work adds up to is printed below.
void DropSpansByTotal(SummaryTable& table);

// Views launch nothing: where they have much of the GPU's time that is no time of kernels.
bool HasTimesOfViews(const SummaryTable& table);
void ForgetTimesOfGpu(SummaryTable& table);

}  // namespace dladvisor::summary_table
