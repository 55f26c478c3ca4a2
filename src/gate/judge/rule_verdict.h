// SPDX-License-Identifier: Apache-2.0
// What rules say of both sides. A finding counts for a side where it fires in more than half of its runs, so
// that one odd run of several neither makes nor hides one. A rule that is an error counts in half of them, on
// whatever it fires. Of others, new findings fail where they are sure (finding_evidence.h); else they warn.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "src/gate/judge/policy.h"
#include "src/gate/model/verdict.h"
#include "src/gate/runs/gate_run.h"

namespace dladvisor {

// Findings that differ only in rank, device and figures, and have the same verdict, are shown as one. Those
// that fail the gate first, then new, still and gone ones, each with the most saving first. `longer`: the
// buckets of the ledger that take longer by more than noise.
std::vector<RuleVerdict> JudgeRules(std::span<const GateRun> baseline, std::span<const GateRun> candidate,
                                    const KnowledgeBase& knowledge, const GatePolicy& policy,
                                    const std::set<std::string>& longer = {});

// "train.py" and 45 of a name as profilers give it, such as "train.py(45): load" or "model.cu:12"; "" and 0
// where it names no line.
std::pair<std::string, int> SourceLineIn(const std::string& text);

}  // namespace dladvisor
