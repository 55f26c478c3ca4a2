// SPDX-License-Identifier: Apache-2.0
// Renderers of a gate's result. The same result gives the same bytes; text from profiles is made safe to show
// in each (src/render/escape.h).
#pragma once

#include <string>
#include <string_view>

#include "src/gate/model/verdict.h"

namespace dladvisor {

// For the terminal, at 100 columns: the verdict, what was measured, what explains it, what to do. Short where
// the gate passed.
std::string RenderGateText(const GateResult& result, bool color);

// For a comment on a pull request and a job's summary. GitHub takes at most 65,536 characters as a comment:
// lists are cut so that it fits and say how many are left out.
inline constexpr size_t kMaxCommentSize = 65'000;
std::string RenderGateMarkdown(const GateResult& result);

// JUnit XML: a test case for each metric, each rule and each trend, and one for whether the sides can be
// compared.
std::string RenderGateJUnit(const GateResult& result);

// SARIF 2.1.0: findings of rules in the candidate, and metrics that regressed or are inconclusive. What lies
// under `root`, where the program's sources are, is named relative to it.
std::string RenderGateSarif(const GateResult& result, std::string_view root = "");

// Workflow commands of GitHub Actions that annotate the commit: the ten most important errors and the ten
// most important warnings, which is as many as it shows of a step.
std::string RenderGateAnnotations(const GateResult& result, std::string_view root = "");

// The model whole. Names are those of verdict.h, enumerations by their names ("not comparable", "warn",
// "new", "warning"), `unit` as UnitName gives it, `subject` an object, the first of `subjects`; what is
// unknown is null, what does not apply is "". {schema_version, generator, verdict, exit_status, headline,
// next_step, baseline: {runs, ranks, steps}, candidate: ..., differences, metrics, explanation, rules,
// trends, notes}.
std::string RenderGateJson(const GateResult& result);

// One page, complete without a script.
std::string RenderGateHtml(const GateResult& result);

}  // namespace dladvisor
