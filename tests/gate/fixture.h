// SPDX-License-Identifier: Apache-2.0
// Results of gates, as the renderers get them.
#pragma once

#include <string>
#include <vector>

#include "src/gate/model/verdict.h"

namespace dladvisor::test {

// Steps take longer because data loading does.
GateResult RegressedGate();
GateResult PassedGate();
GateResult ImprovedGate();
GateResult InconclusiveGate();
GateResult NotComparableGate();
// The regressed one, in which every text is hostile.
GateResult HostileGate();
// The regressed one with thousands of everything.
GateResult HugeGate();

extern const std::string kHostileText;

std::vector<std::string> Lines(const std::string& text);

}  // namespace dladvisor::test
