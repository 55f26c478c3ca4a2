// From a Trace to relations. One file per family of facts; each declares its relation and computes its rows
// from the shared Context; nothing else computes a metric.
#pragma once

#include <vector>

#include "engine/relation.h"
#include "src/analysis/context.h"

namespace dladvisor {

// All relations that Analyze fills, in the order of `dladvisor facts`.
std::vector<const Schema*> FactSchemas();

// What the families share. Refers to both arguments, which must outlive it. Throws Error where the options
// name steps that the trace does not have.
Context MakeContext(const Trace& trace, const AnalysisOptions& options);

// One table per schema of FactSchemas(), in that order; a trace without GPU work gives tables without GPU
// rows. Throws as MakeContext does.
std::vector<Table> Analyze(const Trace& trace, const AnalysisOptions& options = {});

}  // namespace dladvisor
