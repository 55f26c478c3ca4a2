// SPDX-License-Identifier: Apache-2.0
// Totals by operator of a trace of torch.autograd.profiler, which has no kernels: of the GPU it holds the
// time between two CUDA events around each operator, as the profiler's own table sums it up.
#pragma once

#include "src/importers/kineto/spans.h"
#include "src/trace/summary_table.h"
#include "src/trace/trace.h"

namespace dladvisor::kineto {

// Operators of the host as `trace` has them, sorted by start, the longest first; those of the GPU in any
// order, with the trace's names.
SummaryTable OperatorTotals(const Trace& trace, const Spans& on_gpu);

}  // namespace dladvisor::kineto
