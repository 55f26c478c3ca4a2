// SPDX-License-Identifier: Apache-2.0
// Charts of ranks that run the same work.
#pragma once

#include "src/render/template.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// The heat map of ranks and steps, and the curves of the slowest and the fastest GPU: a list for {{#plots}}.
data RankPlots(const ReportModel& model);

}  // namespace dladvisor
