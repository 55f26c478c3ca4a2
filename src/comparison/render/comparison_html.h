// SPDX-License-Identifier: Apache-2.0
// A comparison as one HTML page that needs nothing else: no script, no request.
#pragma once

#include <string>

#include "src/comparison/compare_runs.h"

namespace dladvisor {

std::string RenderComparisonHtml(const RunsCompared& compared, const std::string& generator);

}  // namespace dladvisor
