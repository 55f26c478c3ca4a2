// From a Trace to relations. One file per family of facts; each declares its relation and computes its rows
// from the shared Context; nothing else computes a metric.
#pragma once

#include <vector>

#include "engine/relation.h"
#include "src/analysis/collective_track.h"
#include "src/analysis/context.h"
#include "src/analysis/kernel_sequence.h"

namespace dladvisor {

// All relations that Analyze fills, in the order of `dladvisor facts`.
std::vector<const Schema*> FactSchemas();

// What the families share. Refers to both arguments, which must outlive it. Throws Error where the options
// name steps that the trace does not have.
Context MakeContext(const Trace& trace, const AnalysisOptions& options);

// What there is to know of one trace.
struct Facts {
  std::vector<Table> relations;  // one per schema of FactSchemas(), in that order
  std::vector<KernelSequence> sequences;
  std::vector<CollectiveTrack> collectives;
};

// A trace without GPU work gives tables without GPU rows. Throws as MakeContext does.
Facts Analyze(const Trace& trace, const AnalysisOptions& options = {});

}  // namespace dladvisor
