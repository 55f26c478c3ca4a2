// SPDX-License-Identifier: Apache-2.0
// What the report says of a server's log.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// The table of a server's log, where the profile is one and no trace; else nullptr.
const ReportTable* ServingAlone(const ReportModel& model);
// Whether a line of the log, or of one of several, has a request.
bool HasRequests(const ReportTable& serving);
// "A log of vLLM, not a trace: 26.1 requests at once on average, 66 at most, 292 tokens/s generated".
std::string ServingText(const ReportTable& serving);
// What a reader asks of a server's log, as labels and values; empty without one, and of several, which are
// shown in the tables alone.
std::vector<std::pair<std::string, std::string>> ServingSummary(const ReportModel& model);

}  // namespace dladvisor
