// SPDX-License-Identifier: Apache-2.0
// The SARIF log. GitHub shows every result as an open alert, whatever its kind, baselineState or suppressions
// say, and closes the alerts that a later log lacks: findings that are gone are therefore left out, and so is
// all that passed. It refuses a log in which a result has no location.
#pragma once

#include <string>
#include <string_view>

#include "src/gate/model/verdict.h"

namespace dladvisor {

// SARIF 2.1.0: findings of rules in the candidate, and metrics that regressed or are inconclusive. What lies
// under `root`, where the program's sources are, is named relative to it.
std::string RenderGateSarif(const GateResult& result, std::string_view root = "");

}  // namespace dladvisor
