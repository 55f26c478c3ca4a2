// SPDX-License-Identifier: Apache-2.0
// A comparison for the terminal: the sentences, the ledger, and the largest changes.
#pragma once

#include <string>

#include "src/comparison/compare_runs.h"
#include "src/render/text_writer.h"

namespace dladvisor {

std::string RenderComparisonText(const RunsCompared& compared, const std::string& generator, TextStyle style);

}  // namespace dladvisor
