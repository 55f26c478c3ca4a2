// SPDX-License-Identifier: Apache-2.0
// Where the time of a GPU goes, as segments of a bar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/render/svg.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// The ledger of one rank and device as segments, compute first, NULL buckets left out; `per_step` where
// known.
std::vector<Segment> LedgerSegments(const ReportTable& ledger, const Value& rank, const Value& device);
// The ledger of the GPU that the headline speaks of, the one that sets the pace, and of a job the one in the
// middle; exposed communication as waiting and transfer where that is known.
std::vector<Segment> HeadlineSegments(const ReportModel& model);
// Time of one of its buckets.
double InBucket(const ReportModel& model, std::string_view bucket);
std::vector<Segment> TypicalSegments(const ReportModel& model);
// "rank 5, GPU 0", "GPU 1"; "" where there is one alone.
std::string HeadlineGpu(const ReportModel& model);
std::string TypicalGpu(const ReportModel& model);

}  // namespace dladvisor
