// SPDX-License-Identifier: Apache-2.0
// Ops, groups and modules as a tree that opens and closes, with bars of GPU time.
#pragma once

#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

// Of the paths in the column `name` ("/forward/linear"), each with its GPU time, over all ranks. `inclusive`:
// the time of a path holds that of the paths below it. Empty where there are fewer than two places, or no GPU
// time.
std::string OpTreeHtml(const ReportTable& table, const char* name, bool inclusive);

}  // namespace dladvisor
