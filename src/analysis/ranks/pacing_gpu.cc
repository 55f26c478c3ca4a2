// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/pacing_gpu.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dladvisor {
namespace {

// Differences of GPUs below this share of the longest time are noise.
constexpr double kNoiseOfPace = 0.01;
// As the rules on stragglers have them.
constexpr double kMostByChance = 0.01, kLeastExcessShare = 0.01, kLeastSpreads = 4;

struct GpuTime {
  std::pair<int64_t, int64_t> gpu;  // rank and device
  double whole = 0, exposed = 0, lost = 0;
  double own() const { return whole - exposed; }
};

std::vector<GpuTime> TimesOf(std::span<const TimeLedgerRow> ledger) {
  // In the unit of all: of several profiles some may have steps and others none.
  const bool has_steps =
      std::ranges::any_of(ledger, [](const auto& row) { return row.ns_per_step.has_value(); });
  std::map<std::pair<int64_t, int64_t>, GpuTime> times;
  for (const TimeLedgerRow& row : ledger) {
    if (!row.ns || (has_steps && !row.ns_per_step)) continue;
    const double ns = has_steps ? *row.ns_per_step : static_cast<double>(*row.ns);
    GpuTime& time = times[{row.rank, row.device}];
    time.gpu = {row.rank, row.device};
    time.whole += ns;
    if (row.bucket == "communication/exposed") time.exposed += ns;
    if (!row.bucket.starts_with("compute/")) time.lost += ns;
  }
  std::vector<GpuTime> all;
  for (const auto& [gpu, time] : times) all.push_back(time);
  return all;
}

}  // namespace

bool IsLateAlways(const StragglerRow& row) {
  return row.rank && row.device && row.probability <= kMostByChance &&
         row.excess_share.value_or(0) >= kLeastExcessShare &&
         static_cast<double>(row.excess_ns) >= kLeastSpreads * static_cast<double>(row.spread_ns.value_or(0));
}

const RelationOf<PacingGpuRow>& PacingGpuRelation() {
  static const auto relation =
      RelationOf<PacingGpuRow>("pacing_gpu",
                               "The GPU that sets the pace of the run: whose time reports split, and whose "
                               "steps are compared. One row.")
          .Key("rank", &PacingGpuRow::rank, kRankNumber, "Rank.")
          .Key("device", &PacingGpuRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("reason", &PacingGpuRow::reason, Unit::kText,
                  "straggler: late step after step; own time: it has most time that is not exposed "
                  "communication; first of equals: none differs from the others by a hundredth.")
          .Column("own_ns", &PacingGpuRow::own_ns, Unit::kNanoseconds,
                  "Its time per step, or in the window where there are no steps, without exposed "
                  "communication.");
  return relation;
}

std::vector<PacingGpuRow> FindPacingGpu(std::span<const TimeLedgerRow> ledger,
                                        std::span<const StragglerRow> stragglers) {
  std::vector<GpuTime> times = TimesOf(ledger);
  if (times.empty()) return {};
  const StragglerRow* latest = nullptr;
  for (const StragglerRow& row : stragglers)
    if (IsLateAlways(row) && (latest == nullptr || row.excess_ns > latest->excess_ns)) latest = &row;
  if (latest != nullptr)
    for (const GpuTime& time : times)
      if (time.gpu == std::pair(*latest->rank, *latest->device))
        return {{time.gpu.first, time.gpu.second, "straggler", time.own()}};
  const size_t all = times.size();
  const double noise = kNoiseOfPace * std::ranges::max(times, {}, &GpuTime::whole).whole;
  const double longest = std::ranges::max(times, {}, &GpuTime::own).own();
  std::erase_if(times, [&](const GpuTime& time) { return time.own() < longest - noise; });
  const size_t longest_ones = times.size();
  const double least = std::ranges::min(times, {}, &GpuTime::lost).lost;
  std::erase_if(times, [&](const GpuTime& time) { return time.lost > least + noise; });
  const GpuTime& first = times.front();
  return {{first.gpu.first, first.gpu.second, all > 1 && longest_ones == all ? "first of equals" : "own time",
           first.own()}};
}

std::vector<PacingGpuRow> PacingGpuOfFleet(const RowsOfFleet<TimeLedgerRelation>& ledger,
                                           const Stragglers& stragglers) {
  return FindPacingGpu(ledger.rows, stragglers.ranks);
}

const Family& PacingGpuFamily() {
  static const Family family = FamilyOf(PacingGpuRelation(), PacingGpuOfFleet);
  return family;
}

}  // namespace dladvisor
