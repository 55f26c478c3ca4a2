// SPDX-License-Identifier: Apache-2.0
// The schedule of a pipeline as a figure.
#pragma once

#include "src/render/template.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// The figure of the schedule, where there is a pipeline: a list for {{#plots}}.
data PipelinePlots(const ReportModel& model);

}  // namespace dladvisor
