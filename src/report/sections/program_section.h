// SPDX-License-Identifier: Apache-2.0
// What the report says of the output of a program that is neither a training nor a server.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// The table of a program's output, where the profile is one and no trace; else nullptr.
const ReportTable* ProgramAlone(const ReportModel& model);
// "The output of a program, not a trace: the progress bar "Compressing layers" takes 57.2 s for each of 224".
std::string ProgramText(const ReportTable& program);
// Whether it is a table that a benchmark of one's own wrote: no run of a program of which a trace shows more.
bool IsTableOfResults(const ReportTable& program);
// What a reader asks of it, as labels and values; empty without one, and of several.
std::vector<std::pair<std::string, std::string>> ProgramSummary(const ReportModel& model);

}  // namespace dladvisor
