// SPDX-License-Identifier: Apache-2.0
// Which figures stand together.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// Ids of figures, in order of display.
std::span<const std::string_view> PerformanceFigures();
std::span<const std::string_view> SystemFigures();

// Those of `ids` that are there; power only where a log of it was given, and of a log alone only what it
// says.
std::vector<const Figure*> ShownFigures(const ReportModel& model, std::span<const std::string_view> ids);

}  // namespace dladvisor
