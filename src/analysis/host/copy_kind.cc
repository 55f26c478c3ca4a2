// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/copy_kind.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

constexpr int64_t kAsynchronousBytes = 64 * 1024;  // CUDA Runtime API, "API synchronization behavior"

// The latency of a copy of that size is some hundredths of its time.
constexpr int64_t kLargeBytes = 4 * 1024 * 1024;

double Rate(int64_t bytes, Ns took) { return static_cast<double>(bytes) / static_cast<double>(took) * 1e9; }

struct CopyRounds {
  int64_t rounds = 0, most = 0;  // most copies of one
};

// How often, in the window, a copy comes first or after a kernel that came after the copy before. All in
// order of start.
CopyRounds RoundsOf(const std::vector<uint32_t>& members, const Copies& copies,
                    const std::vector<Ns>& kernels, Interval window) {
  CopyRounds result;
  int64_t of_round = 0;
  Ns last = std::numeric_limits<Ns>::min();
  for (const uint32_t i : members) {
    if (copies.start[i] < window.start || copies.start[i] >= window.end) continue;
    const auto kernel = std::lower_bound(kernels.begin(), kernels.end(), last);
    if (result.rounds == 0 || (kernel != kernels.end() && *kernel < copies.start[i])) {
      ++result.rounds;
      of_round = 0;
    }
    result.most = std::max(result.most, ++of_round);
    last = copies.start[i];
  }
  return result;
}

bool IsPageable(const Copies& copies, uint32_t copy) {
  return copies.source[copy] == MemoryKind::kPageable || copies.destination[copy] == MemoryKind::kPageable;
}

// By the name of the call: a small copy to the GPU need not block either, however it was asked for.
bool IsAskedAsync(const Context& context, uint32_t copy) {
  const uint32_t call = context.launches.copy[copy];
  return call != kNoIndex &&
         ClassifyApi(context.trace.names.View(context.trace.api_calls.name[call])) == ApiKind::kAsyncCopy;
}

}  // namespace

std::optional<bool> IsBlockingCopy(const Context& context, uint32_t copy) {
  const Copies& copies = context.trace.copies;
  const uint32_t call = context.launches.copy[copy];
  if (call == kNoIndex) return std::nullopt;
  const ApiKind kind = ClassifyApi(context.trace.names.View(context.trace.api_calls.name[call]));
  if (kind != ApiKind::kCopy) return false;  // asynchronous, or a graph
  if (copies.direction[copy] == CopyDirection::kDeviceToDevice) return false;
  if (copies.direction[copy] != CopyDirection::kHostToDevice) return true;
  if (copies.bytes[copy] == 0) return std::nullopt;  // not recorded
  return copies.bytes[copy] > kAsynchronousBytes;
}

const RelationOf<CopyKindRow>& CopyKindRelation() {
  static const auto relation =
      RelationOf<CopyKindRow>(
          "copy_kind", "Memory copies by direction, kinds of memory and blocking, over the whole profile.")
          .Key("rank", &CopyKindRow::rank, kRankNumber, "Rank.")
          .Key("device", &CopyKindRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("direction", &CopyKindRow::direction, Unit::kText,
               "host-to-device, device-to-host, device-to-device, ...")
          .Key("source", &CopyKindRow::source, Unit::kText,
               "Kind of the source memory: pageable, pinned, device, managed, array.")
          .Key("destination", &CopyKindRow::destination, Unit::kText, "Kind of the destination memory.")
          .Key("blocking", &CopyKindRow::blocking, Unit::kText,
               "blocking, async, or unknown where the API call was not recorded.")
          .Column("copies", &CopyKindRow::copies, Unit::kCount, "Copies.")
          .Column("bytes", &CopyKindRow::bytes, Unit::kBytes, "Sum of bytes.")
          .Column("total_ns", &CopyKindRow::total_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("window_ns", &CopyKindRow::window_ns, Unit::kNanoseconds,
                  "Time with such a copy running in the analysed window (union).")
          .Column("avg_ns", &CopyKindRow::avg_ns, Unit::kNanoseconds, "Mean duration.")
          .Column("bytes_per_s", &CopyKindRow::bytes_per_s, Unit::kBytesPerSecond,
                  "Bytes over summed durations; unknown where they are 0.")
          .Column("best_bytes_per_s", &CopyKindRow::best_bytes_per_s, Unit::kBytesPerSecond,
                  "Highest rate of a copy of at least 4 MiB: what the link carries. Unknown without one.")
          .Column("small_copies", &CopyKindRow::small_copies, Unit::kCount, "Copies of at most 64 KiB.")
          .Column("scalar_copies", &CopyKindRow::scalar_copies, Unit::kCount,
                  "Copies of at most 16 bytes: single values.")
          .Column("window_copies", &CopyKindRow::window_copies, Unit::kCount,
                  "Copies that start in the analysed window.")
          .Column("window_bytes", &CopyKindRow::window_bytes, Unit::kBytes, "Bytes of those copies.")
          .Column("window_small_copies", &CopyKindRow::window_small_copies, Unit::kCount,
                  "Of those copies the small ones.")
          .Column("copies_per_step", &CopyKindRow::copies_per_step, Unit::kCount,
                  "Those per steady step; unknown without steps.")
          .Column("exposed_ns", &CopyKindRow::exposed_ns, Unit::kNanoseconds,
                  "Time in the window with such a copy and no kernel running.")
          .Column("compute_stream_ns", &CopyKindRow::compute_stream_ns, Unit::kNanoseconds,
                  "Of that, in streams that also run kernels: in order, so that they cannot overlap them.")
          .Column("rounds", &CopyKindRow::rounds, Unit::kCount,
                  "Times in the window that such copies begin again after a kernel: 1 for an upload ahead.")
          .Column("most_in_round", &CopyKindRow::most_in_round, Unit::kCount,
                  "Most of these copies between two kernels.")
          .Column("sizes", &CopyKindRow::sizes, Unit::kCount, "How many sizes the copies of the window have.")
          .Column("pageable_async", &CopyKindRow::pageable_async, Unit::kCount,
                  "Copies of pageable memory in the window that an asynchronous call asked for, which behave "
                  "synchronously.");
  return relation;
}

std::vector<CopyKindRow> ComputeCopyKinds(const Context& context, const std::vector<GpuTimeline>& timelines) {
  const Trace& trace = context.trace;
  const Copies& copies = trace.copies;
  std::vector<CopyKindRow> rows;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    std::map<std::tuple<CopyDirection, MemoryKind, MemoryKind, std::string>, std::vector<uint32_t>> kinds;
    for (const uint32_t i : context.work[gpu].copies) {
      const auto blocking = IsBlockingCopy(context, i);
      kinds[{copies.direction[i], copies.source[i], copies.destination[i],
             !blocking   ? "unknown"
             : *blocking ? "blocking"
                         : "async"}]
          .push_back(i);
    }
    const Interval analysed = context.windows[gpu];
    const int64_t steps = context.StepCount(context.ranks.gpus[gpu].rank);
    std::set<int64_t> compute_streams;
    std::vector<Ns> kernel_starts;
    kernel_starts.reserve(context.work[gpu].kernels.size());
    for (const uint32_t k : context.work[gpu].kernels)
      if (trace.kernels.start[k] >= analysed.start && trace.kernels.start[k] < analysed.end) {
        compute_streams.insert(trace.kernels.stream[k]);
        kernel_starts.push_back(trace.kernels.start[k]);
      }
    for (const auto& [key, members] : kinds) {
      CopyKindRow row;
      row.rank = context.ranks.gpus[gpu].rank;
      row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
      row.direction = CopyDirectionName(std::get<0>(key));
      row.source = MemoryKindName(std::get<1>(key));
      row.destination = MemoryKindName(std::get<2>(key));
      row.blocking = std::get<3>(key);
      std::vector<Interval> intervals, in_order;
      std::unordered_set<int64_t> sizes;
      for (const uint32_t i : members) {
        ++row.copies;
        row.bytes += copies.bytes[i];
        const Ns took = copies.end[i] - copies.start[i];
        row.total_ns += took;
        if (copies.bytes[i] >= kLargeBytes && took > 0)
          row.best_bytes_per_s = std::max(row.best_bytes_per_s.value_or(0), Rate(copies.bytes[i], took));
        row.small_copies += IsOfAtMost(copies.bytes[i], kAsynchronousBytes);
        row.scalar_copies += IsOfAtMost(copies.bytes[i], kScalarBytes);
        if (copies.start[i] >= analysed.start && copies.start[i] < analysed.end) {
          ++row.window_copies;
          row.window_bytes += copies.bytes[i];
          sizes.insert(copies.bytes[i]);
          row.window_small_copies += IsOfAtMost(copies.bytes[i], kAsynchronousBytes);
          row.pageable_async += IsPageable(copies, i) && IsAskedAsync(context, i);
        }
        intervals.push_back({copies.start[i], copies.end[i]});
        if (compute_streams.contains(copies.stream[i])) in_order.push_back(intervals.back());
      }
      const CopyRounds rounds = RoundsOf(members, copies, kernel_starts, analysed);
      row.rounds = rounds.rounds;
      row.most_in_round = rounds.most;
      row.sizes = static_cast<int64_t>(sizes.size());
      const IntervalSet inside = Clip(Union(std::move(intervals)), analysed);
      const IntervalSet exposed = Intersect(inside, timelines[gpu].exposed_copies);
      row.window_ns = Length(inside);
      row.exposed_ns = Length(exposed);
      row.compute_stream_ns = Length(Intersect(exposed, Union(std::move(in_order))));
      if (steps > 0)
        row.copies_per_step = static_cast<double>(row.window_copies) / static_cast<double>(steps);
      row.avg_ns = static_cast<double>(row.total_ns) / static_cast<double>(row.copies);
      if (row.total_ns > 0 && row.bytes > 0) row.bytes_per_s = Rate(row.bytes, row.total_ns);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

const Family& CopyKindFamily() {
  static const Family family = FamilyOf(CopyKindRelation(), ComputeCopyKinds);
  return family;
}

}  // namespace dladvisor
