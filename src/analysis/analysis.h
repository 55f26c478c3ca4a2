// SPDX-License-Identifier: Apache-2.0
// From a Trace to relations, and from the relations of all ranks to those that compare them. What is computed
// is declared by the families of facts (families.def); this runs them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/digest.h"
#include "src/analysis/family/family.h"
#include "src/analysis/ranks/rank.h"

namespace dladvisor {

// A trace, and what has been computed of it: each value once, however many relations need it.
class AnalysedTrace {
 public:
  // Refers to the trace, which must outlive this and its relations.
  explicit AnalysedTrace(const Trace& trace, AnalysisOptions options = {});

  // The relations of all families of one profile but those on demand, in their order. A trace without GPU
  // work gives tables without GPU rows. Computed anew at each call. Throws Error where the options name steps
  // that the trace does not have.
  Digest ComputeDigest();

  // The relations on demand, computed when a row is first asked for. They must not outlive this.
  std::vector<std::unique_ptr<Relation>> OnDemandRelations() const;

  template <class T>
  const T& Get() const {
    return values_.Get<T>();
  }
  const ComputedValues& values() const { return values_; }

 private:
  AnalysisOptions options_;
  ComputedValues values_;
};

// The facts of one trace.
Digest Analyze(const Trace& trace, const AnalysisOptions& options = {});

// The relations of the families that compare ranks, in their order, from the facts of all ranks. A profile by
// itself goes through it as well: it may hold several ranks.
std::vector<Table> AnalyzeAcrossRanks(const Digest& digest, std::span<const RankIdentity> identities);

}  // namespace dladvisor
