// SPDX-License-Identifier: Apache-2.0
// The HTML report: the page's data for templates/report.html. Every {{value}} is escaped; {{{value}}} is used
// only for markup that this folder made.
#pragma once

#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

std::string RenderHtml(const ReportModel& model);

}  // namespace dladvisor
