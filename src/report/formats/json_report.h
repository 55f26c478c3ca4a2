// SPDX-License-Identifier: Apache-2.0
// The JSON report: the model whole, keys in a fixed order, so that the same input gives the same bytes. Text
// is as the profile has it but for invalid UTF-8; numbers that are not finite are null.
#pragma once

#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

std::string RenderJson(const ReportModel& model);

}  // namespace dladvisor
