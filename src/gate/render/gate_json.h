// SPDX-License-Identifier: Apache-2.0
// The JSON. Text is as the profile has it but for invalid UTF-8; numbers that are not finite are null.
#pragma once

#include <string>

#include "src/gate/model/verdict.h"

namespace dladvisor {

// The model whole. Names are those of verdict.h, enumerations by their names ("not comparable", "warn",
// "new", "warning"), `unit` as UnitName gives it, `subject` an object, the first of `subjects`; what is
// unknown is null, what does not apply is "". {schema_version, generator, verdict, exit_status, headline,
// next_step, baseline: {runs, ranks, steps}, candidate: ..., differences, metrics, explanation, rules,
// trends, notes}.
std::string RenderGateJson(const GateResult& result);

}  // namespace dladvisor
