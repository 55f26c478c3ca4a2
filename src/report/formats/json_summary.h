// SPDX-License-Identifier: Apache-2.0
// What fits a prompt: the headline, the figures of the dashboard, findings with what they rest on, coverage;
// no tables. Equal findings of several ranks are one, with all their ids.
#pragma once

#include <cstddef>
#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

inline constexpr size_t kMostSummaryBytes = 20'000;

// Findings that save least are left out, and counted, where all would be more than `most_bytes`; the first is
// told more briefly instead. The first `skip` are those of an earlier part.
std::string RenderJsonSummary(const ReportModel& model, size_t most_bytes = kMostSummaryBytes,
                              size_t skip = 0);

}  // namespace dladvisor
