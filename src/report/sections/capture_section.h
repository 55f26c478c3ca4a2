// SPDX-License-Identifier: Apache-2.0
// What to change in the next capture, in the words of the profiler that made the profiles.
#pragma once

#include <string>
#include <vector>

#include "engine/model/advice.h"
#include "engine/store/database.h"
#include "src/capture/capture_words.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// Puts what findings say of the capture into the words of the profiler that made the profile, without what
// was recorded.
void TranslateCapture(Advice& advice, const Database& database);
// What to add to the capture command so that unknown rules can decide; lists of one flag merged.
std::vector<std::string> CaptureFlags(const ReportModel& model);
// What to write into dladvisor.yaml so that work can be compared with the peaks of a GPU that the program
// does not know; "" where none is unknown.
std::string HardwareToDeclare(const ReportModel& model);
// The files that the report is of, when they were recorded, and which steps are analysed; "" where none is
// known.
std::string InputsText(const ReportModel& model);
// Whether the program uses no GPU, so that nothing of one is missing.
bool UsesNoGpu(const ReportModel& model);
// Whether the GPU's work was traced, and the program called for none.
bool CalledNoGpu(const ReportModel& model);
// Of the profiler that made all profiles, or of any where they are of several.
const CaptureWords& WordsOf(const Database& database);
const CaptureWords& WordsOf(const ReportModel& model);

}  // namespace dladvisor
