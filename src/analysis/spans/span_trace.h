// SPDX-License-Identifier: Apache-2.0
// What the spans that a program marked tell of its time: which take most of it, whether tracks that do the
// same do as much, what happens once. Nothing is known of them but their names and times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct SpanTraceRow {
  int64_t profile = 0;
  int64_t spans = 0, tracks = 0, processes = 0;
  double duration_ns = 0;
  std::optional<double> covered_share;
  std::optional<std::string> name;
  std::optional<int64_t> count, named_tracks;
  std::optional<double> self_ns, share, each_ns, longest_ns, inner_share;
  std::optional<double> gap_ns, gap_share;
  std::optional<std::string> before_gap;
  std::optional<std::string> apart_name;
  std::optional<int64_t> apart_count;
  std::optional<double> apart_ns, apart_share;
  std::optional<std::string> uneven_name, peer_kind, most_peer, least_peer;
  std::optional<int64_t> peers;
  std::optional<double> most_ns, mean_ns, least_ns, most_ratio, excess_share;
  std::optional<std::string> once_name;
  std::optional<int64_t> once_of;
  std::optional<double> once_ns, once_share, once_others_ns;
  int64_t with_marks = 0;
  std::optional<std::string> marked_span, last_mark;
  std::optional<int64_t> last_count;
  std::optional<double> late_ns, marked_ns;
};
const RelationOf<SpanTraceRow>& SpanTraceRelation();

struct SpanNameRow {
  int64_t profile = 0;
  std::string name;
  int64_t count = 0, tracks = 0;
  double self_ns = 0;
  std::optional<double> share;
  double median_ns = 0, longest_ns = 0, first_ns = 0;
};
const RelationOf<SpanNameRow>& SpanNameRelation();

struct SpanTrackRow {
  int64_t profile = 0, track = 0;
  std::string process, name;
  int64_t spans = 0;
  double start_ns = 0, end_ns = 0, busy_ns = 0;
  std::optional<double> busy_share;
  double gap_ns = 0;
  std::optional<double> gap_start_ns;
  std::string top_name;
  double top_ns = 0;
};
const RelationOf<SpanTrackRow>& SpanTrackRelation();

struct SpanFamilies {
  std::vector<SpanTraceRow> trace;
  std::vector<SpanNameRow> names;
  std::vector<SpanTrackRow> tracks;
};
SpanFamilies ComputeSpans(const Context& context);

template <>
inline constexpr Computed kValue<SpanFamilies>{"span rows", ComputeSpans};

}  // namespace dladvisor
