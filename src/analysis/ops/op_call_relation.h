// The relations op_call and op_work: the calls of op_call.h and their GPU work.
#pragma once

#include <memory>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

// Computed when they are first read: most commands never do, and a profile may have
// millions of calls. The trace must outlive them; the schemas do not depend on it.
std::vector<std::unique_ptr<Relation>> OpCallRelations(const Trace& trace, const AnalysisOptions& options);

}  // namespace dladvisor
