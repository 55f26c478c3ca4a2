// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/sync_site.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/op_path.h"
#include "src/analysis/context/python_line.h"
#include "src/analysis/family/family.h"
#include "src/analysis/host/copy_kind.h"

namespace dladvisor {
namespace {

// A wait of JAX's is for one array.
std::string_view KindOf(std::string_view api) {
  if (api.starts_with("jax.") || api.starts_with("np.")) return "stream";
  if (api.find("Stream") != std::string_view::npos) return "stream";
  if (api.find("Event") != std::string_view::npos) return "event";
  return "device";
}

constexpr uint8_t kWaits = 1, kScalar = 2;

// Marks the calls of copies that make the host wait: blocking ones, and asynchronous ones that end in
// pageable memory of the host.
std::vector<uint8_t> WaitingCopyCalls(const Context& context) {
  const Copies& copies = context.trace.copies;
  std::vector<uint8_t> waits(context.trace.api_calls.size(), 0);
  for (uint32_t i = 0; i < copies.size(); ++i) {
    const uint32_t call = context.launches.copy[i];
    if (call == kNoIndex) continue;
    const bool to_pageable =
        copies.direction[i] == CopyDirection::kDeviceToHost && copies.destination[i] == MemoryKind::kPageable;
    if (to_pageable || IsBlockingCopy(context, i) == true)
      waits[call] =
          copies.direction[i] == CopyDirection::kDeviceToHost && IsOfAtMost(copies.bytes[i], kScalarBytes)
              ? kScalar
              : kWaits;
  }
  return waits;
}

bool Covers(const IntervalSet& set, Ns time) {
  const auto i = std::lower_bound(set.begin(), set.end(), time,
                                  [](const Interval& interval, Ns t) { return interval.end <= t; });
  return i != set.end() && i->start <= time;
}

// Marks the calls that give work to a GPU, whatever their name.
std::vector<uint8_t> LaunchingCalls(const Context& context) {
  std::vector<uint8_t> launches(context.trace.api_calls.size(), 0);
  const Launches& of = context.launches;
  for (const std::vector<uint32_t>* calls : {&of.kernel, &of.copy, &of.set, &of.graph})
    for (const uint32_t call : *calls)
      if (call != kNoIndex) launches[call] = 1;
  return launches;
}

}  // namespace

const RelationOf<SyncSiteRow>& SyncSiteRelation() {
  static const auto relation =
      RelationOf<SyncSiteRow>("sync_site", "Waits of the host for the GPU by place, in the analysed window.")
          .Key("rank", &SyncSiteRow::rank, kRankNumber, "Rank.")
          .Key("kind", &SyncSiteRow::kind, Unit::kText,
               "device, stream, event, or copy for a copy that blocks.")
          .Key("api", &SyncSiteRow::api, Unit::kText, "API function.")
          .Key("site", &SyncSiteRow::site, Unit::kText,
               "Path of the op that waits; (no range) outside all ranges.")
          .Column("calls", &SyncSiteRow::calls, Unit::kCount, "Waits.")
          .Column("total_ns", &SyncSiteRow::total_ns, Unit::kNanoseconds, "Sum of their durations.")
          .Column("calls_per_step", &SyncSiteRow::calls_per_step, Unit::kCount,
                  "Waits per steady step; unknown without steps.")
          .Column("max_ns", &SyncSiteRow::max_ns, Unit::kNanoseconds, "Longest.")
          .Column("window_share", &SyncSiteRow::window_share, Unit::kRatio,
                  "total_ns over the analysed window.")
          .Column(
              "gpu_idle_ns", &SyncSiteRow::gpu_idle_ns, Unit::kNanoseconds,
              "Idle time of the rank's first GPU from a wait until the thread launches again; where it was "
              "idle already, only in the wait itself.")
          .Column("scalar_calls", &SyncSiteRow::scalar_calls, Unit::kCount,
                  "Of the calls, copies of at most 16 bytes to the host: single values.")
          .Column("scalar_idle_ns", &SyncSiteRow::scalar_idle_ns, Unit::kNanoseconds,
                  "Idle time after these.")
          .Column(
              "line", &SyncSiteRow::line, Unit::kText,
              "Python line of the first wait, where PyTorch's profiler recorded stacks (with_stack=True).");
  return relation;
}

std::vector<SyncSiteRow> ComputeSyncSites(const Context& context, const std::vector<GpuTimeline>& timelines) {
  const Trace& trace = context.trace;
  const ApiCalls& calls = trace.api_calls;
  const std::vector<ApiKind>& kinds = context.api_kinds;
  const std::vector<uint8_t> copy_waits = WaitingCopyCalls(context), launching = LaunchingCalls(context);
  const auto waits = [&](uint32_t i) { return kinds[calls.name[i]] == ApiKind::kSync || copy_waits[i]; };

  // A wait's shadow ends with the start of the next launch or wait on its thread.
  struct Wait {
    uint32_t call;
    Ns shadow_end;
  };
  std::vector<Wait> found;
  std::vector<Ns> next_on_thread(trace.threads.size(), std::numeric_limits<Ns>::max());
  for (uint32_t i = static_cast<uint32_t>(calls.size()); i-- > 0;) {
    if (calls.thread[i] == kNoIndex) continue;
    Ns& next = next_on_thread[calls.thread[i]];
    if (waits(i)) found.push_back({i, next});
    const ApiKind kind = kinds[calls.name[i]];
    if (waits(i) || launching[i] || kind == ApiKind::kLaunch || kind == ApiKind::kAsyncCopy)
      next = calls.start[i];
  }
  std::reverse(found.begin(), found.end());

  std::map<std::tuple<int64_t, std::string, std::string, std::string>, SyncSiteRow> sites;
  std::vector<Moment> moments;  // of the first wait of each site
  std::vector<SyncSiteRow*> of_moment;
  for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu) {
    const int64_t rank = context.ranks.gpus[gpu].rank;
    if (gpu > 0 && context.ranks.gpus[gpu - 1].rank == rank)
      continue;  // its first device stands for the rank
    const Interval window = context.HostWindowOf(rank);
    const IntervalSet& idle = timelines[gpu].idle;
    for (const auto [i, shadow_end] : found) {
      if (calls.start[i] < window.start || calls.start[i] >= window.end ||
          context.RankOfThread(calls.thread[i]) != rank)
        continue;
      const std::string api(ApiBaseName(trace.names.View(calls.name[i])));
      const std::string kind(copy_waits[i] ? "copy" : KindOf(api));
      const std::string site = OpPathText(context, context.attribution.api_range[i]);
      SyncSiteRow& row = sites[{rank, kind, api, site}];
      row.rank = rank;
      row.kind = kind;
      row.api = api;
      row.site = site;
      if (row.calls++ == 0) {
        moments.push_back({calls.thread[i], calls.start[i]});
        of_moment.push_back(&row);
      }
      const int64_t duration = calls.end[i] - calls.start[i];
      row.total_ns += duration;
      row.max_ns = std::max(row.max_ns, duration);
      // A wait that finds the GPU idle lets nothing run dry.
      const bool was_idle = Covers(idle, calls.start[i]);
      const Interval shadow{calls.start[i], std::min(was_idle ? calls.end[i] : shadow_end, window.end)};
      int64_t idle_ns = 0;
      for (auto it = std::lower_bound(idle.begin(), idle.end(), shadow.start,
                                      [](const Interval&a, Ns t) { return a.end <= t; });
           it != idle.end() && it->start < shadow.end; ++it)
        idle_ns += std::min(it->end, shadow.end) - std::max(it->start, shadow.start);
      row.gpu_idle_ns = row.gpu_idle_ns.value_or(0) + idle_ns;
      if (copy_waits[i] == kScalar) {
        ++row.scalar_calls;
        row.scalar_idle_ns += idle_ns;
      }
    }
  }
  std::vector<std::string> lines = PythonLines(trace, moments);
  for (size_t i = 0; i < lines.size(); ++i)
    if (!lines[i].empty()) of_moment[i]->line = std::move(lines[i]);
  std::vector<SyncSiteRow> rows;
  for (auto& [key, row] : sites) {
    if (const int64_t window = context.HostWindowOf(row.rank).length(); window > 0)
      row.window_share = static_cast<double>(row.total_ns) / static_cast<double>(window);
    if (const int64_t steps = context.StepCount(row.rank); steps > 0)
      row.calls_per_step = static_cast<double>(row.calls) / static_cast<double>(steps);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const SyncSiteRow& a, const SyncSiteRow& b) {
    return std::pair(a.rank, -a.total_ns) < std::pair(b.rank, -b.total_ns);
  });
  return rows;
}

const Family& SyncSiteFamily() {
  static const Family family = FamilyOf(SyncSiteRelation(), ComputeSyncSites).Detail();
  return family;
}

}  // namespace dladvisor
