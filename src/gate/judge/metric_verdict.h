// SPDX-License-Identifier: Apache-2.0
// The verdict on every metric of two sides.
#pragma once

#include <span>
#include <vector>

#include "src/gate/judge/policy.h"
#include "src/gate/model/history.h"
#include "src/gate/model/verdict.h"
#include "src/gate/runs/gate_run.h"

namespace dladvisor {

struct MetricVerdicts {
  std::vector<MetricVerdict> metrics;      // of level warn and error, in order of the policy
  std::vector<MetricVerdict> explanation;  // by kind, of each the largest changes first
};

// Of each family at most this many explain.
inline constexpr size_t kMostExplanations = 30;

// Of changes that a finding accounts for; see JudgeMetrics().
inline constexpr double kExplainedFloor = 0.10;

// Runs of the same setting in the history show how much a metric varies between runs, where the policy does
// not state it. Where neither does, runs are assumed to differ by up to kAssumedFloor; but only by
// kExplainedFloor where one of `rules` that fires on one side alone saves at least half of the change of the
// step time, for noise between runs makes everything slower and no new findings. An op, kernel or bucket that
// one side lacks took no time there.
MetricVerdicts JudgeMetrics(std::span<const GateRun> baseline, std::span<const GateRun> candidate,
                            const GatePolicy& policy, const std::vector<HistoryRun>& history,
                            std::span<const RuleVerdict> rules);

}  // namespace dladvisor
