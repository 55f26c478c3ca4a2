// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: what changed, and why. A description of two recordings, not a verdict: whether a
// change is more than noise between runs is what a gate judges, from repeats.
//
// Times are of a mean steady step where both runs have steps of the same definition; of the whole analysed
// window where neither has any and both ran the same operators equally often; else of one call of each
// operator that both ran. `unit_why` says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "src/comparison/match_work.h"
#include "src/comparison/recorded_run.h"
#include "src/gate/model/verdict.h"

namespace dladvisor {

enum class ComparedUnit { kStep, kWindow, kCall };
// "step", "window", "call".
std::string_view UnitNameOf(ComparedUnit unit);

struct BucketChange {
  std::string bucket;
  double before_ns = 0, after_ns = 0;
};

struct FigureChange {
  std::string title;
  Unit unit = Unit::kNone;
  std::optional<double> before, after;
};

struct FindingChange {
  RuleVerdict finding;                    // of the second run; of the first where it is gone
  std::optional<double> saved_before_ns;  // most that it promised in the first run, where both have it
};

struct ComparedSide {
  std::string name;
  size_t ranks = 0, steps = 0;
  std::optional<double> unit_ns;    // length of the unit; unknown of calls
  std::optional<double> stddev_ns;  // between steps
};

struct RunsCompared {
  ComparedSide before, after;
  ComparedUnit unit = ComparedUnit::kStep;
  std::string unit_why;          // why it is not the step; or ""
  std::optional<double> change;  // of the unit's time, relative to the first; of calls over common ones
  // Of calls: the part of either run's GPU time that both ran.
  std::optional<double> common_share, common_share_after;
  std::string headline;              // one sentence
  std::vector<std::string> reasons;  // sentences: what takes more and less, largest first
  std::vector<BucketChange> ledger;  // of the unit, largest change first; none of calls
  // Of the unit, largest change first; timers are those of logs.
  std::vector<WorkPair> kinds, operators, shapes, kernels, timers;
  std::vector<FigureChange> figures;    // of the whole runs
  std::vector<FindingChange> findings;  // new, on both sides, gone
  std::vector<Difference> differences;  // settings, versions, sizes of work
  std::vector<std::string> notes;       // what a reader should know: a sentence each
};

RunsCompared CompareRuns(const RecordedRun& before, const RecordedRun& after, const KnowledgeBase& knowledge);

}  // namespace dladvisor
