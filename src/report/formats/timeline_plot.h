// SPDX-License-Identifier: Apache-2.0
// One steady step as a timeline: what computed, communicated and was copied, idle time in the colours of its
// causes, and the ranges of the launching threads. Of a job two GPUs: the one that the others wait for, over
// one of the others. Flags lead to the findings whose loss is there.
#pragma once

#include <vector>

#include "src/render/template.h"
#include "src/report/model/report_model.h"
#include "src/report/sections/finding_groups.h"

namespace dladvisor {

// A list of {label, svg, legend}, one for each GPU; empty where the profile has no GPU work.
data TimelinePlots(const ReportModel& model, const std::vector<FindingGroup>& groups);

}  // namespace dladvisor
