// SPDX-License-Identifier: Apache-2.0
// The views below the dashboard of the HTML report: which tables each has, and its charts.
#pragma once

#include <string>
#include <vector>

#include "src/render/template.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// How many iterations the widest bar of IterationChart is the mean of.
double MostInBar(const ReportModel& model);
// Whether one of its bars is hatched.
bool HasWarmUpBar(const ReportModel& model);
// SVG with a bar for each iteration, or several, of the rank that sets the pace; "" without iterations. `id`
// is unique in the page.
std::string IterationChart(const ReportModel& model, const std::string& id);
// Those with rows; the titles of the others go into `without_rows`.
data ViewList(const ReportModel& model, std::vector<std::string>& without_rows);

}  // namespace dladvisor
