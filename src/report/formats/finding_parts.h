// SPDX-License-Identifier: Apache-2.0
// Findings as data for the templates of the HTML report.
#pragma once

#include <vector>

#include "src/render/template.h"
#include "src/report/model/report_model.h"
#include "src/report/sections/finding_groups.h"

namespace dladvisor {

// Fired findings, roots first and each followed by what it explains: {{> finding_part}}.
data FindingList(const ReportModel& model, const std::vector<FindingGroup>& groups);

}  // namespace dladvisor
