// SPDX-License-Identifier: Apache-2.0
// Where the time of tracks goes by their spans: each moment belongs to the innermost span that is open then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor {

struct TrackTimes {
  size_t spans = 0;
  double start_ns = 0, end_ns = 0, busy_ns = 0;  // busy: in any span
  double gap_ns = 0, gap_start_ns = 0;           // the longest time between spans
  uint32_t before_gap = UINT32_MAX;              // the span after which that comes
};

struct SpanTimes {
  std::vector<TrackTimes> tracks;  // of ProgramSpans::tracks
  std::vector<double> self_ns;     // of each span, without those within it
  std::vector<uint32_t> parent;    // the span of the track that is open as it begins, UINT32_MAX for none
  double duration_ns = 0;          // from the first span's begin to the last one's end
  size_t crossing = 0;             // spans that begin within another of their track and end after it
  double covered_ns = 0;           // of it, with any span on any track
  std::vector<std::pair<uint32_t, double>> gaps;  // all times without any span, by the span before
  double gap_ns = 0;                              // the longest of these
  uint32_t before_gap = UINT32_MAX;
  std::vector<uint32_t>
      order;  // of spans by track, start, and the longest first: what encloses others before them
};

SpanTimes WalkSpans(const ProgramSpans& spans);

}  // namespace dladvisor
