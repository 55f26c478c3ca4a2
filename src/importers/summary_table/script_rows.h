// SPDX-License-Identifier: Apache-2.0
// What the rows of a table are that a script made of a profile: nothing but their names and sums says it.
#pragma once

#include <string_view>
#include <vector>

#include "src/trace/summary_table.h"

namespace dladvisor::summary_table {

// Whether what stands above a table says that its work is a processor's, no GPU's.
bool SaysHost(std::string_view title, std::string_view before);

// Whether the rows are kernels and copies by their names: "kernel" is a word of operating systems and of
// convolutions, too, and operators of PyTorch, calls of MPI and calls of APIs are no kernels.
bool IsOfGpu(const std::vector<SummaryRow>& rows);

// What the GPU does in all: the rows', or what the share of the longest says, which a script may print
// with a few others alone. Beside calls of an API shares are of both.
double WholeOf(const std::vector<SummaryRow>& rows, double by_share);

// Rows of totals and of what is not listed are no kernels.
void DropTotals(std::vector<SummaryRow>& rows);

}  // namespace dladvisor::summary_table
