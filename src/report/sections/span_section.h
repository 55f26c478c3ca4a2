// SPDX-License-Identifier: Apache-2.0
// The report of a trace of spans that a program marked itself.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// The spans, where nothing of a GPU was recorded beside them; null else.
const ReportTable* SpansAlone(const ReportModel& model);

// What they are and what takes most of their time, as the report's first sentence says it.
std::string SpansText(const ReportTable& spans);

// What the summary says of them, by label; empty where the report is not of one such trace.
std::vector<std::pair<std::string, std::string>> SpansSummary(const ReportModel& model);

}  // namespace dladvisor
