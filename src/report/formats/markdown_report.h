// SPDX-License-Identifier: Apache-2.0
// The Markdown report, for comments on pull requests and job summaries: what to do, and the figures that a
// reviewer looks at. templates/report.md is its form.
#pragma once

#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

std::string RenderMarkdown(const ReportModel& model);

}  // namespace dladvisor
