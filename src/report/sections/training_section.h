// SPDX-License-Identifier: Apache-2.0
// What the report says of a training's log.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// The table of a training's log, where the profile is one and no trace; else nullptr.
const ReportTable* TrainingAlone(const ReportModel& model);
// "A training log of Megatron-LM, not a trace: 200 iterations of 1.39 s, 2.87 samples/s".
std::string TrainingText(const ReportTable& training);
// "; it ended with ValueError: wrong shape", by the column `error` of a log's only row; "" where nothing
// ended it, or a user.
std::string EndedWith(const ReportTable& log);
// What a reader asks of a training's log, as labels and values; empty without one, and of several,
// which are shown in the tables alone.
std::vector<std::pair<std::string, std::string>> TrainingSummary(const ReportModel& model);

}  // namespace dladvisor
