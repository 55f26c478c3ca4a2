// SPDX-License-Identifier: Apache-2.0
// The terminal's text, in the layout of the report's.
#pragma once

#include <string>

#include "src/gate/model/verdict.h"
#include "src/render/text_writer.h"

namespace dladvisor {

// For the terminal: the verdict, what was measured, what explains it, what to do. Short where
// the gate passed.
std::string RenderGateText(const GateResult& result, TextStyle style);

}  // namespace dladvisor
