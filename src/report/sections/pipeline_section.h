// SPDX-License-Identifier: Apache-2.0
// What the report says of pipelines.
#pragma once

#include <string>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// One for each of the pipelines with the longest bubbles, and how many more there are: "Pipeline 0 is 1F1B
// with 4 stages ...". None where there is no pipeline.
std::vector<std::string> PipelineSentences(const ReportModel& model);

// Rows of the table pipeline_stages that are of the pipeline with the longest bubble, at most 64.
std::vector<size_t> DrawnStages(const ReportModel& model);
// "64 of 70 stages shown", or "" where all of that pipeline's are.
std::string StagesLeftOutText(const ReportModel& model);

}  // namespace dladvisor
