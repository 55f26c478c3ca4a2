// SPDX-License-Identifier: Apache-2.0
// A metric over the runs of the history, drawn.
#pragma once

#include <string>
#include <vector>

#include "src/gate/model/verdict.h"

namespace dladvisor {

// The level that the history starts with: before the first change, else the mean.
double FirstLevel(const Trend& trend);
// Runs and their levels as deviations from the first level, with a mark at every change. `id` is unique in
// the page.
std::string TrendChart(const std::string& id, const Trend& trend);
// "163 ms to 170 ms at run 18 (0a3c0a2); since then mixed-precision-off fires".
std::vector<std::string> TrendSteps(const Trend& trend);

}  // namespace dladvisor
