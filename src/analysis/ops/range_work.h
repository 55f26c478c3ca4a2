// Ranges projected onto the GPU: from the first to the last GPU operation that was launched inside of them by
// their own thread (Nsight Systems' NVTX projection).
#pragma once

#include <memory>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

// range_work, computed when it is first read: there may be millions of ranges. The trace must outlive it; the
// schema does not depend on it.
std::unique_ptr<Relation> RangeWorkRelation(const Trace& trace);

}  // namespace dladvisor
