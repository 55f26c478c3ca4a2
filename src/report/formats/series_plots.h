// SPDX-License-Identifier: Apache-2.0
// What a log of telemetry or of a training shows over time.
#pragma once

#include "src/render/template.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// A chart for each metric of the GPUs and one of the training's lines: a list for {{#plots}}, empty without
// logs.
data SeriesPlots(const ReportModel& model);

}  // namespace dladvisor
