// SPDX-License-Identifier: Apache-2.0
// Steady steps of each GPU as a picture shows them: the one of median length, which is typical, and the
// longest, in which ranks are compared, or those that are asked for; on lanes for what computes, communicates
// and copies, for idle time by its cause, and for the ranges of the threads that launch most. However many
// events the step has, a lane has at most kTimelineCells boxes: what is shorter than a cell is drawn as one
// of the events in it, the one that takes more than half where there is such (weighted majority: R. Boyer and
// J Moore, "MJRTY", 1981), with the time that events take in it. Without steps it is the analysed window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

inline constexpr size_t kTimelineCells = 240;

struct TypicalStepRow {
  int64_t rank = 0, device = 0, lane = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0, busy_ns = 0;
  std::string lane_name, name, bucket;
  std::optional<int64_t> step;
  int64_t step_start_ns = 0, step_ns = 0;
};
const RelationOf<TypicalStepRow>& TypicalStepRelation();

std::vector<TypicalStepRow> ComputeTypicalStep(const Context& context,
                                               const std::vector<GpuTimeline>& timelines);

}  // namespace dladvisor
