// SPDX-License-Identifier: Apache-2.0
// What the report says of the log of a program, of a training or of a server.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// What a reader asks of it, as labels and values; empty without one.
struct LogSummary {
  std::string title;
  std::vector<std::pair<std::string, std::string>> items;
};
LogSummary LogSummaryOf(const ReportModel& model);

// Whether the profile holds the log of a program and no trace.
bool IsProgramsLogAlone(const ReportModel& model);

}  // namespace dladvisor
