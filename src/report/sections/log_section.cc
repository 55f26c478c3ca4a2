// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/log_section.h"

#include "src/report/sections/serving_section.h"
#include "src/report/sections/training_section.h"

namespace dladvisor {

LogSummary LogSummaryOf(const ReportModel& model) {
  if (auto training = TrainingSummary(model); !training.empty()) return {"Training Log", std::move(training)};
  return {"Server Log", ServingSummary(model)};
}

bool IsProgramsLogAlone(const ReportModel& model) {
  return TrainingAlone(model) != nullptr || ServingAlone(model) != nullptr;
}

}  // namespace dladvisor
