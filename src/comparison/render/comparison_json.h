// SPDX-License-Identifier: Apache-2.0
// The whole comparison as JSON. Times are in ns of the unit; what a side lacks is null.
#pragma once

#include <string>

#include "src/comparison/compare_runs.h"

namespace dladvisor {

std::string RenderComparisonJson(const RunsCompared& compared, const std::string& generator);

}  // namespace dladvisor
