// SPDX-License-Identifier: Apache-2.0
// The runs that a gate was given: reads and measures those of both sides, and evaluates the rules on them, on
// digests side by side. Rules see the baseline and the history where they judge the candidate.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "src/analysis/context/context.h"
#include "src/comparison/compare_runs.h"
#include "src/gate/model/history.h"
#include "src/gate/runs/gate_run.h"

namespace dladvisor {

// Relations of a profile that reports draw and no gate judges by, so that it does not read them unless rules
// do: most rows of a large digest.
inline constexpr std::string_view kDrawnByReportsAlone[] = {"divergence", "group_op", "kernel_position",
                                                            "name_step", "typical_step"};

struct GivenRuns {
  std::vector<GateRun> baseline, candidate;
  std::vector<std::string> unreadable_baseline, unreadable_candidate;  // a message for each
  // Of each side the run whose steps take the median time, side by side.
  std::function<RunsCompared()> compare;
};

// What each side is, as the arguments of --baseline and of the command. Throws Error where a side has no run.
// `knowledge` must outlive the result.
GivenRuns ReadGivenRuns(const std::vector<std::string>& baseline, const std::vector<std::string>& candidate,
                        const AnalysisOptions& analysis, const KnowledgeBase& knowledge,
                        const std::vector<HistoryRun>& history);

}  // namespace dladvisor
