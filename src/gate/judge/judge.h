// SPDX-License-Identifier: Apache-2.0
// The gate's verdict on the runs of two sides.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "src/gate/judge/policy.h"
#include "src/gate/model/history.h"
#include "src/gate/model/verdict.h"
#include "src/gate/runs/gate_run.h"
#include "src/gate/runs/sides.h"

namespace dladvisor {

// REQUIRES: a run on each side. `history` has the runs before this one, in order. GatePolicy::reports_only is
// left to ReportOnly().
GateResult JudgeRuns(const GateSides& sides, const KnowledgeBase& knowledge, const GatePolicy& policy,
                     const std::vector<HistoryRun>& history);

// The history without recordings that these runs are, as where a gate is run again: those are no earlier
// runs.
std::vector<HistoryRun> EarlierRuns(const std::vector<HistoryRun>& history, std::span<const GateRun> runs);

// Where runs of several cannot be read: what is left is compared, and not passed.
// `side` is the one of the result that they are of.
void RefuseUnreadable(const std::vector<std::string>& messages, Side& side, GateResult& result);

// What a project asks for while it gets to know the gate: what would fail warns, and is said to.
void ReportOnly(GateResult& result);

// Where nothing could be judged: what every output says of it. `message` is that of an Error, whose first
// line says what is wrong.
GateResult NotJudged(int exit_status, const std::string& message);

// What history keeps of a run. Families of metrics are left out: they are many.
HistoryRun ToHistory(const GateRun& run, Verdict verdict, const std::string& label, int64_t utc_ns);

}  // namespace dladvisor
