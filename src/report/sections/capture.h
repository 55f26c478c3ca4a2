// What to change in the next capture. Facts declare the flags of Nsight Systems that supply them; for traces
// of PyTorch's profiler these are said in its own options, as far as it has one, and for logs of nvidia-smi
// in its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/model/advice.h"
#include "engine/store/database.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// Puts what findings say of the capture into the words of the profiler that made the profile.
void TranslateCapture(Advice& advice, const Database& database);
// What to add to the capture command so that unknown rules can decide; --trace lists merged into one.
std::vector<std::string> CaptureFlags(const ReportModel& model);
// Declared flags in the words of the profiler that made profiles of this format, each once.
std::vector<std::string> CaptureOptions(const std::vector<std::string>& declared, std::string_view format);
// The format of all profiles; "" where they are of several.
std::string ProfileFormat(const Database& database);

}  // namespace dladvisor
