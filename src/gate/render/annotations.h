// SPDX-License-Identifier: Apache-2.0
// GitHub's workflow commands, one a line. In a message %, CR and LF are escaped, in a property also : and ,.
#pragma once

#include <string>
#include <string_view>

#include "src/gate/model/verdict.h"

namespace dladvisor {

// Workflow commands of GitHub Actions that annotate the commit: the ten most important errors and the ten
// most important warnings, which is as many as it shows of a step.
std::string RenderGateAnnotations(const GateResult& result, std::string_view root = "");

}  // namespace dladvisor
