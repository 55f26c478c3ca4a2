// From a Trace to relations. One file per family of facts; each declares its relation and computes its rows
// from the shared Context; nothing else computes a metric.
#pragma once

#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/communication/collective_track.h"
#include "src/analysis/context/context.h"
#include "src/analysis/ranks/kernel_sequence.h"

namespace dladvisor {

// All relations that Analyze fills, in the order of `dladvisor facts`.
std::vector<const Schema*> FactSchemas();

// What there is to know of one trace.
struct Facts {
  std::vector<Table> relations;  // one per schema of FactSchemas(), in that order
  std::vector<KernelSequence> sequences;
  std::vector<CollectiveTrack> collectives;
};

// A trace without GPU work gives tables without GPU rows. Throws as MakeContext does.
Facts Analyze(const Trace& trace, const AnalysisOptions& options = {});

}  // namespace dladvisor
