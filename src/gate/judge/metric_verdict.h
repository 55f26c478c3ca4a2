// SPDX-License-Identifier: Apache-2.0
// The verdict on every metric of two sides.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/gate/judge/policy.h"
#include "src/gate/model/history.h"
#include "src/gate/model/verdict.h"
#include "src/gate/runs/gate_run.h"

namespace dladvisor {

struct MetricVerdicts {
  std::vector<MetricVerdict> metrics;      // of level warn and error, in order of the policy
  std::vector<MetricVerdict> explanation;  // by kind, of each the largest changes first
  std::set<std::string> longer;            // buckets of the ledger that take longer by more than noise
};

// Of each family at most this many explain.
inline constexpr size_t kMostExplanations = 30;

// Runs of the same setting in the history show how much a metric varies between runs, where the policy does
// not state it. Where neither does, runs are assumed to differ by up to kAssumedFloor, whatever rules find: a
// finding near its threshold comes and goes with the noise, so that it explains a change and is no evidence
// that there is one. An op, kernel or bucket that one side lacks took no time there.
MetricVerdicts JudgeMetrics(std::span<const GateRun> baseline, std::span<const GateRun> candidate,
                            const GatePolicy& policy, const std::vector<HistoryRun>& history);

}  // namespace dladvisor
