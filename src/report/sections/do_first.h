// SPDX-License-Identifier: Apache-2.0
// Which of the findings comes first, and which next: what makes the figures doubtful before all else, then by
// what is saved of the GPU's time, the start-up apart, and of the host's own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/model/advice.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// The finding whose recommendation the headline gives; nothing where there is none to give.
std::optional<size_t> DoFirst(const ReportModel& model);

// Whether what it saves is too little to begin with, so that it leads only as nothing saves more.
bool SavesLittle(const ReportModel& model, const Finding& finding);

// Said before all else of a profile whose end is missing, or whose figures are in doubt; else "".
std::string DoubtText(const ReportModel& model);
// Whether the figures of the whole are worth saying.
bool FiguresHold(const Advice& advice);

// Copies alone, by the finding that says so: what no kernel follows is no loss of the program's work.
std::optional<size_t> NoKernelAtAll(const ReportModel& model);
// A single cold call of which nothing is said but that more is to be recorded.
bool OnlyAsksForMore(const Finding& finding);

// What comes behind the first thing, "; then do Z" or "": the host's own time behind what saves the GPU's;
// what to do within that behind an error or the host's time; and what saves most of what recurs behind what
// happens once, as who only ever warms up has gained nothing.
std::string OutsideGpuTime(const ReportModel& model, size_t first);
std::string WithinGpuTime(const ReportModel& model, size_t first);
std::string AfterStartUp(const ReportModel& model, size_t first);

}  // namespace dladvisor
