// SPDX-License-Identifier: Apache-2.0
// Logs of telemetry and the steps of traces on one clock: what a GPU's sensors showed in each of its steps.
//
// A log is of the ranks of one node: those whose machine its path names, else those of the node in its name,
// else those whose profiles lie in its folder where profiles lie in several, else all where no more than one
// node is known. Its GPUs are theirs by index; where all ranks of a node see their GPU as the same device, by
// local rank.
//
// nvidia-smi prints local time without its zone. Of all zones (multiples of 15 minutes within 14 hours of
// UTC) those fit in which the log covers the most steps: UTC where it is among them, else the only one, else
// none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/family/family.h"
#include "src/analysis/ranks/rank.h"
#include "src/analysis/summary/gpu.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/telemetry/telemetry_series.h"
#include "src/analysis/timeline/step.h"

namespace dladvisor {

struct TelemetryClockRow {
  int64_t profile = 0;
  std::optional<int64_t> origin_utc_ns, zone_ns;
  std::optional<std::string> zone_source;
  int64_t zones = 0, ranks = 0, steps = 0, covered_steps = 0;
  std::optional<std::string> not_joined;
};
const RelationOf<TelemetryClockRow>& TelemetryClockRelation();

struct StepTelemetryRow : TelemetryValues {
  int64_t rank = 0, device = 0, step = 0, profile = 0;
  int64_t duration_ns = 0, samples = 0, first_sample = 0;
  double covered_share = 0;
};
const RelationOf<StepTelemetryRow>& StepTelemetryRelation();

struct StepTelemetry {
  std::vector<TelemetryClockRow> clocks;  // a row per log with samples, where there are steps
  std::vector<StepTelemetryRow> steps;    // steady ones, in order of rank, device and step
};

// `gpus` are all (rank, device) with GPU work.
StepTelemetry JoinTelemetry(std::span<const ProfileRow> profiles, std::span<const RankIdentity> ranks,
                            std::span<const std::pair<int64_t, int64_t>> gpus, std::span<const StepRow> steps,
                            std::span<const TelemetrySeriesRow> samples);

StepTelemetry TelemetryOfFleet(const RowsOfFleet<ProfileRelation>& profiles,
                               const OfFleet<RankIdentity>& ranks, const RowsOfFleet<GpuRelation>& gpus,
                               const RowsOfFleet<StepRelation>& steps,
                               const RowsOfFleet<TelemetrySeriesRelation>& samples);
template <>
inline constexpr Computed kValue<StepTelemetry>{"telemetry by step", TelemetryOfFleet};

}  // namespace dladvisor
