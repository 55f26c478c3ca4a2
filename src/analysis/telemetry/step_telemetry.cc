// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/telemetry/step_telemetry.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "src/analysis/family/family.h"
#include "src/analysis/telemetry/telemetry.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

constexpr int64_t kMinuteNs = 60'000'000'000, kZoneNs = 15 * kMinuteNs, kFarthestZones = 14 * 4;
// Of a step, share that samples must cover to speak for it.
constexpr double kLeastCovered = 0.5;

using Gpu = std::pair<int64_t, int64_t>;
using Samples = std::vector<const TelemetrySeriesRow*>;

// A step on the clock of UTC.
struct TimedStep {
  int64_t rank = 0, step = 0, start = 0, end = 0;
};

// Whether `word` is in the text with neither letter nor digit beside it.
bool HasWord(std::string_view text, std::string_view word) {
  if (word.empty()) return false;
  const auto inside = [&](size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
  };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if ((at == 0 || !inside(at - 1)) && !inside(at + word.size())) return true;
  return false;
}

std::string FolderOf(const ProfileRow& profile) {
  return std::filesystem::path(profile.path).parent_path().string();
}

class Join {
 public:
  Join(std::span<const ProfileRow> profiles, std::span<const RankIdentity> ranks, std::span<const Gpu> gpus,
       std::span<const StepRow> steps, std::span<const TelemetrySeriesRow> samples)
      : ranks_(ranks), gpus_(gpus) {
    for (const ProfileRow& profile : profiles) profiles_[profile.profile] = &profile;
    for (const TelemetrySeriesRow& sample : samples)
      if (sample.start_ns && sample.device)
        logs_[sample.profile][*sample.device].push_back(&sample);
      else
        logs_[sample.profile];
    for (const RankIdentity& rank : ranks) {
      const ProfileRow* profile = ProfileOf(rank.profile);
      if (profile != nullptr && profile->clock_origin_utc_ns)
        origin_of_[rank.rank] = *profile->clock_origin_utc_ns;
    }
    for (const StepRow& step : steps) {
      if (step.warmup) continue;
      ranks_with_steps_.insert(step.rank);
      if (const auto origin = origin_of_.find(step.rank); origin != origin_of_.end())
        steps_of_[step.rank].push_back(
            {step.rank, step.step, origin->second + step.start_ns, origin->second + step.end_ns});
    }
  }

  StepTelemetry Run() {
    if (ranks_with_steps_.empty()) return {};
    for (const auto& [profile, by_device] : logs_) JoinLog(profile, by_device);
    std::ranges::sort(result_.steps, [](const StepTelemetryRow& a, const StepTelemetryRow& b) {
      return std::tie(a.rank, a.device, a.step) < std::tie(b.rank, b.device, b.step);
    });
    // Of two logs of a GPU the first counts.
    const auto same = [](const StepTelemetryRow& a, const StepTelemetryRow& b) {
      return std::tie(a.rank, a.device, a.step) == std::tie(b.rank, b.device, b.step);
    };
    result_.steps.erase(std::unique(result_.steps.begin(), result_.steps.end(), same), result_.steps.end());
    return std::move(result_);
  }

 private:
  const ProfileRow* ProfileOf(int64_t profile) const {
    const auto found = profiles_.find(profile);
    return found == profiles_.end() ? nullptr : found->second;
  }

  // The ranks that a log covers; none where its node is not known.
  std::vector<const RankIdentity*> RanksOf(const ProfileRow& log) const {
    const auto those = [&](const auto& matches) {
      std::vector<const RankIdentity*> found;
      for (const RankIdentity& rank : ranks_)
        if (ranks_with_steps_.contains(rank.rank) && matches(rank)) found.push_back(&rank);
      return found;
    };
    auto found = those([&](const RankIdentity& r) { return r.profile == log.profile; });
    if (found.empty())
      found = those([&](const RankIdentity& r) { return r.host && HasWord(log.path, *r.host); });
    if (found.empty() && log.recorded_node)
      found = those([&](const RankIdentity& r) { return r.node == log.recorded_node; });
    std::set<std::string> folders;
    std::set<std::pair<std::optional<int64_t>, std::optional<std::string>>> nodes;
    for (const RankIdentity& rank : ranks_) {
      if (const ProfileRow* profile = ProfileOf(rank.profile)) folders.insert(FolderOf(*profile));
      nodes.emplace(rank.node, rank.host);
    }
    if (found.empty() && folders.size() > 1)
      found = those([&](const RankIdentity& r) {
        const ProfileRow* profile = ProfileOf(r.profile);
        return profile != nullptr && FolderOf(*profile) == FolderOf(log);
      });
    if (found.empty() && nodes.size() <= 1) found = those([](const RankIdentity&) { return true; });
    return found;
  }

  // Steps that lie within [first, last].
  static int64_t Covered(const std::vector<TimedStep>& steps, int64_t first, int64_t last) {
    return std::ranges::count_if(
        steps, [&](const TimedStep& step) { return step.start >= first && step.end <= last; });
  }

  // Puts the log on the clock of UTC, or says why that cannot be done.
  static void FindZone(const ProfileRow& log, const std::vector<TimedStep>& steps, int64_t length,
                       TelemetryClockRow& row) {
    if (log.clock_origin_utc_ns) {
      row.origin_utc_ns = log.clock_origin_utc_ns;
      row.zone_source = "log";
      row.covered_steps = Covered(steps, *row.origin_utc_ns, *row.origin_utc_ns + length);
      if (row.covered_steps == 0) row.not_joined = "it covers none of the steps";
      return;
    }
    if (!log.clock_origin_local_ns) {
      row.not_joined = "it has no date";
      return;
    }
    std::vector<int64_t> fitting;
    for (int64_t z = -kFarthestZones; z <= kFarthestZones; ++z) {
      const int64_t first = *log.clock_origin_local_ns - z * kZoneNs;
      const int64_t covered = Covered(steps, first, first + length);
      if (covered == 0 || covered < row.covered_steps) continue;
      if (covered > row.covered_steps) fitting.clear();
      row.covered_steps = covered;
      fitting.push_back(z);
    }
    row.zones = static_cast<int64_t>(fitting.size());
    const bool fits_utc = std::ranges::find(fitting, 0) != fitting.end();
    if (fitting.empty()) {
      row.not_joined = "it covers none of the steps, whatever its time zone";
    } else if (fitting.size() > 1 && !fits_utc) {
      row.not_joined = "its time zone is not recorded, and several fit the steps";
    } else {
      row.zone_ns = fits_utc ? 0 : fitting.front() * kZoneNs;
      row.origin_utc_ns = *log.clock_origin_local_ns - *row.zone_ns;
      row.zone_source = fitting.size() == 1 ? "steps" : "assumed";
    }
  }

  // The index under which the log knows a rank's GPU.
  int64_t IndexOf(const RankIdentity& rank, int64_t device,
                  const std::vector<const RankIdentity*>& others) const {
    if (!rank.local_rank || others.size() < 2) return device;
    for (const RankIdentity* other : others)
      for (const auto& [r, d] : gpus_)
        if (r == other->rank && d != device) return device;
    return *rank.local_rank;
  }

  void JoinLog(int64_t profile, const std::map<int64_t, Samples>& by_device) {
    const ProfileRow* log = ProfileOf(profile);
    if (log == nullptr) return;
    TelemetryClockRow row;
    row.profile = profile;
    const std::vector<const RankIdentity*> ranks = RanksOf(*log);
    std::vector<TimedStep> steps;
    for (const RankIdentity* rank : ranks)
      if (const auto of_rank = steps_of_.find(rank->rank); of_rank != steps_of_.end())
        steps.insert(steps.end(), of_rank->second.begin(), of_rank->second.end());
    row.ranks = static_cast<int64_t>(ranks.size());
    row.steps = static_cast<int64_t>(steps.size());
    int64_t length = 0;
    for (const auto& [device, samples] : by_device)
      length = std::max(length, *samples.back()->start_ns + HoldOf(samples));
    if (by_device.empty())
      row.not_joined = "it does not record when its samples were taken, or on which GPU";
    else if (ranks.empty())
      row.not_joined = "its node is not known";
    else if (steps.empty())
      row.not_joined = "no trace records the UTC of its steps";
    else
      FindZone(*log, steps, length, row);
    if (!row.not_joined)
      for (const RankIdentity* rank : ranks)
        for (const auto& [r, device] : gpus_)
          if (r == rank->rank)
            if (const auto samples = by_device.find(IndexOf(*rank, device, ranks));
                samples != by_device.end())
              JoinGpu(*rank, device, *row.origin_utc_ns, samples->second);
    result_.clocks.push_back(std::move(row));
  }

  // For how long most samples hold.
  static int64_t HoldOf(const Samples& samples) {
    std::vector<int64_t> holds;
    for (size_t i = 1; i < samples.size(); ++i)
      holds.push_back(*samples[i]->start_ns - *samples[i - 1]->start_ns);
    return holds.empty() ? 0 : IntegerMedian(holds);
  }

  void JoinGpu(const RankIdentity& rank, int64_t device, int64_t origin, const Samples& samples) {
    const auto steps = steps_of_.find(rank.rank);
    if (steps == steps_of_.end()) return;
    const int64_t hold = HoldOf(samples);
    for (const TimedStep& step : steps->second) {
      const int64_t begin = step.start - origin, end = step.end - origin;
      auto at = std::ranges::upper_bound(samples, begin, {},
                                         [](const TelemetrySeriesRow* s) { return *s->start_ns; });
      if (at != samples.begin()) --at;
      StepTelemetryRow row;
      // Summed is what values differ from the first one, so that the mean of equal values is that value.
      std::array<double, kTelemetryColumns> firsts{}, sums{}, weights{};
      int64_t covered = 0;
      for (; at != samples.end() && *(*at)->start_ns < end; ++at) {
        const int64_t from = *(*at)->start_ns;
        int64_t until = from + hold;
        if (at + 1 != samples.end()) until = std::min(*(*(at + 1))->start_ns, from + hold * kLongestHold);
        const int64_t overlap = std::min(until, end) - std::max(from, begin);
        if (overlap <= 0) continue;
        if (row.samples++ == 0) row.first_sample = (*at)->sample;
        covered += overlap;
        for (size_t c = 0; c < kTelemetryColumns; ++c)
          if (const auto& value = (*at)->*TelemetryColumns()[c].value) {
            if (weights[c] == 0) firsts[c] = *value;
            sums[c] += (*value - firsts[c]) * static_cast<double>(overlap);
            weights[c] += static_cast<double>(overlap);
          }
      }
      if (end <= begin) continue;
      row.covered_share = static_cast<double>(covered) / static_cast<double>(end - begin);
      if (row.covered_share < kLeastCovered) continue;
      row.rank = rank.rank;
      row.device = device;
      row.step = step.step;
      row.profile = samples.front()->profile;
      row.duration_ns = end - begin;
      for (size_t c = 0; c < kTelemetryColumns; ++c)
        if (weights[c] > 0) row.*TelemetryColumns()[c].value = firsts[c] + sums[c] / weights[c];
      result_.steps.push_back(row);
    }
  }

  std::span<const RankIdentity> ranks_;
  std::span<const Gpu> gpus_;
  std::map<int64_t, const ProfileRow*> profiles_;
  std::map<int64_t, std::map<int64_t, Samples>> logs_;  // by profile and device
  std::map<int64_t, int64_t> origin_of_;                // UTC, by rank
  std::set<int64_t> ranks_with_steps_;
  std::map<int64_t, std::vector<TimedStep>> steps_of_;
  StepTelemetry result_;
};

}  // namespace

const RelationOf<TelemetryClockRow>& TelemetryClockRelation() {
  static const auto relation =
      RelationOf<TelemetryClockRow>("telemetry_clock",
                                    "How logs of telemetry were put on the clock of the steps that traces "
                                    "hold: one row per log, where there are steps.")
          .Key("profile", &TelemetryClockRow::profile, kProfileNumber, "Number of the log's file.")
          .Column("origin_utc_ns", &TelemetryClockRow::origin_utc_ns, Unit::kNone,
                  "UTC of its first sample; unknown where it is not recorded and cannot be derived.")
          .Column("zone_ns", &TelemetryClockRow::zone_ns, Unit::kNanoseconds,
                  "By how much its local time is ahead of UTC, where the log does not record UTC.")
          .Column("zone_source", &TelemetryClockRow::zone_source, Unit::kText,
                  "Source of UTC: log; steps, where the log covers the most steps in one time zone only; "
                  "assumed, where it does so in several and UTC is one of them.")
          .Column("zones", &TelemetryClockRow::zones, Unit::kCount,
                  "Time zones in which it covers the most steps; 0 where it records UTC.")
          .Column("ranks", &TelemetryClockRow::ranks, Unit::kCount, "Ranks with steps on its node.")
          .Column("steps", &TelemetryClockRow::steps, Unit::kCount, "Their steady steps of known UTC.")
          .Column("covered_steps", &TelemetryClockRow::covered_steps, Unit::kCount,
                  "Of these, the ones that lie within the log.")
          .Column("not_joined", &TelemetryClockRow::not_joined, Unit::kText,
                  "Why it is not joined to steps; unknown where it is.");
  return relation;
}

const RelationOf<StepTelemetryRow>& StepTelemetryRelation() {
  static const auto relation = [] {
    RelationOf<StepTelemetryRow> r(
        "step_telemetry",
        "What nvidia-smi showed of a GPU in its steady steps: means over the step's time, a sample holding "
        "until the next one. Steps of which less than half is covered are left out.");
    r.Key("rank", &StepTelemetryRow::rank, kRankNumber, "Rank.")
        .Key("device", &StepTelemetryRow::device, Unit::kNone, "CUDA device ordinal.")
        .Key("step", &StepTelemetryRow::step, kStepNumber, "Number of the step.")
        .Column("profile", &StepTelemetryRow::profile, kProfileNumber, "Number of the log's file.")
        .Column("duration_ns", &StepTelemetryRow::duration_ns, Unit::kNanoseconds, "Time of the step.")
        .Column("samples", &StepTelemetryRow::samples, Unit::kCount, "Samples that hold in it.")
        .Column("first_sample", &StepTelemetryRow::first_sample, Unit::kNone,
                "Number of the first of them: steps between two samples share it.")
        .Column("covered_share", &StepTelemetryRow::covered_share, Unit::kRatio,
                "Share of the step in which they do.");
    AddTelemetryColumns(r);
    return r;
  }();
  return relation;
}

StepTelemetry JoinTelemetry(std::span<const ProfileRow> profiles, std::span<const RankIdentity> ranks,
                            std::span<const Gpu> gpus, std::span<const StepRow> steps,
                            std::span<const TelemetrySeriesRow> samples) {
  return Join(profiles, ranks, gpus, steps, samples).Run();
}

StepTelemetry TelemetryOfFleet(const RowsOfFleet<ProfileRelation>& profiles,
                               const OfFleet<RankIdentity>& ranks, const RowsOfFleet<GpuRelation>& gpus,
                               const RowsOfFleet<StepRelation>& steps,
                               const RowsOfFleet<TelemetrySeriesRelation>& samples) {
  return JoinTelemetry(profiles.rows, ranks.all, GpusOf(gpus), steps.rows, samples.rows);
}

const Family& TelemetryClockFamily() {
  static const Family family = FamilyOf(TelemetryClockRelation(), &StepTelemetry::clocks);
  return family;
}

const Family& StepTelemetryFamily() {
  static const Family family = FamilyOf(StepTelemetryRelation(), &StepTelemetry::steps);
  return family;
}

}  // namespace dladvisor
