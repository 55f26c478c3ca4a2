// SPDX-License-Identifier: Apache-2.0
// The page of a comparison: the data for templates/gate.html, whose every {{value}} is escaped through
// EscapeHtml; {{{value}}} is markup that was made here or in src/report.
#pragma once

#include <string>

#include "src/gate/model/verdict.h"

namespace dladvisor {

// One page, complete without a script.
std::string RenderGateHtml(const GateResult& result);

}  // namespace dladvisor
