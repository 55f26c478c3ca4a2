// SPDX-License-Identifier: Apache-2.0
// The terminal report: about seventy lines, readable at 100 columns.
#pragma once

#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

std::string RenderText(const ReportModel& model);

}  // namespace dladvisor
