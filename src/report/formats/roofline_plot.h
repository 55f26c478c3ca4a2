// SPDX-License-Identifier: Apache-2.0
// The roofline of the operators whose work is known, for the speed-of-light view.
#pragma once

#include "src/render/template.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// A list of one plot, as views show them: of the rank whose operators take most GPU time. Empty where no
// operator's FLOPs, bytes and peaks are all known.
data RooflinePlots(const ReportModel& model);

}  // namespace dladvisor
