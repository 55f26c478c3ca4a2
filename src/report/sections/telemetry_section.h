// SPDX-License-Identifier: Apache-2.0
// What the report says of a log of GPU telemetry.
#pragma once

#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

// The table of telemetry, where the profile is a log of it and no trace; else nullptr.
const ReportTable* TelemetryAlone(const ReportModel& model);
// Whether the log says how long the GPUs were busy.
bool HasBusyShare(const ReportModel& model);
// Share of the multiprocessors at work, of all GPUs; null where the log does not record it.
Value MultiprocessorsAtWork(const ReportModel& model);
// Whether the GPU is a Jetson board's, of which nvidia-smi knows little and tegrastats more.
bool IsJetson(const ReportModel& model);
// Whether each GPU was looked at once.
bool IsOneLook(const ReportTable& telemetry);
// "A log of nvidia-smi, not a trace: 8 GPUs, busy 82.0 % of the time".
// ", the GPUs busy 61.0 % of the time", for what else a log with telemetry tells first; "" without it.
std::string BusyBeside(const ReportModel& model);

std::string TelemetryText(const ReportModel& model, const ReportTable& telemetry);

}  // namespace dladvisor
