// What HTA and PyTorch's TensorBoard plugin tell of a profile, as relations: see operator.h,
// execution_summary.h, kernel_breakdown.h, idle_breakdown.h, memory_operator.h and others of their families.
#pragma once

#include <memory>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

// Computed when they are first read: each sweeps over all events, and no rule needs them. The trace must
// outlive them; the schemas do not depend on it.
std::vector<std::unique_ptr<Relation>> ProfilerRelations(const Trace& trace, const AnalysisOptions& options);

}  // namespace dladvisor
