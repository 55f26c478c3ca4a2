// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/log_section.h"

#include "src/report/sections/program_section.h"
#include "src/report/sections/serving_section.h"
#include "src/report/sections/span_section.h"
#include "src/report/sections/summary_section.h"
#include "src/report/sections/training_section.h"

namespace dladvisor {

LogSummary LogSummaryOf(const ReportModel& model) {
  if (auto training = TrainingSummary(model); !training.empty()) return {"Training Log", std::move(training)};
  if (auto spans = SpansSummary(model); !spans.empty()) return {"Program Spans", std::move(spans)};
  if (auto totals = SummaryOfTotals(model); !totals.empty()) return {"Summary", std::move(totals)};
  if (auto program = ProgramSummary(model); !program.empty()) return {"Program Output", std::move(program)};
  return {"Server Log", ServingSummary(model)};
}

bool IsProgramsLogAlone(const ReportModel& model) {
  return TrainingAlone(model) != nullptr || ServingAlone(model) != nullptr ||
         ProgramAlone(model) != nullptr || SpansAlone(model) != nullptr || SummaryAlone(model) != nullptr;
}

}  // namespace dladvisor
