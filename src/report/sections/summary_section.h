// SPDX-License-Identifier: Apache-2.0
// What the report says of tables of totals by name that a profiler printed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// The table of their sums, where the profile is such tables and no trace; else nullptr.
const ReportTable* SummaryAlone(const ReportModel& model);
// "A summary by nsys stats, not a trace: of 4.6 s of work on the GPU ampere_sgemm_128x64_tn takes 65.1 %".
std::string SummaryText(const ReportTable& summary);
// Whether the finding is on what that text names, by its name or its share.
bool IsOnMostOf(const ReportTable& summary, const Finding& finding);
// What a reader asks of it, as labels and values; empty without one, and of several.
std::vector<std::pair<std::string, std::string>> SummaryOfTotals(const ReportModel& model);

}  // namespace dladvisor
