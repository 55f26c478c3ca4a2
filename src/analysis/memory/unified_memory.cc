// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/memory/unified_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

// Between two pages that the host touches one after the other. Longer pauses are other work.
constexpr Ns kLongestAccess = 10'000'000;

// Between two pages that a kernel waits for. Longer pauses are the kernel's own work.
constexpr Ns kLongestFault = 100'000;

// Of pauses, to be taken for what the host does with the bytes before them: as many, and so much of their
// variance explained by these.
constexpr size_t kLeastPauses = 16;
constexpr double kLeastExplained = 0.5;

struct Pause {
  double ns = 0, bytes = 0;  // after a migration of so many
};

// What pauses take whatever their bytes: waiting for the next page. Unknown where they do not grow with
// these.
std::optional<Ns> TimeOfFaults(const std::vector<Pause>& pauses) {
  if (pauses.size() < kLeastPauses) return std::nullopt;
  const auto count = static_cast<double>(pauses.size());
  double ns = 0, bytes = 0;
  for (const Pause& pause : pauses) {
    ns += pause.ns;
    bytes += pause.bytes;
  }
  double squares_ns = 0, squares_bytes = 0, both = 0;
  for (const Pause& pause : pauses) {
    const double of_ns = pause.ns - ns / count, of_bytes = pause.bytes - bytes / count;
    squares_ns += of_ns * of_ns;
    squares_bytes += of_bytes * of_bytes;
    both += of_ns * of_bytes;
  }
  if (!(both > 0) || both * both < kLeastExplained * squares_ns * squares_bytes) return std::nullopt;
  return static_cast<Ns>(std::max(0.0, ns - both / squares_bytes * bytes));
}

// Pauses between migrations to the host, each followed by the next, in which the GPU has nothing to do.
std::vector<Pause> HostAccess(const Context& context, size_t gpu) {
  const Trace& trace = context.trace;
  const Interval window = context.windows[gpu];
  struct Work {
    Interval time;
    bool to_host = false;
    int64_t bytes = 0;
  };
  std::vector<Work> works;
  const auto add = [&](const GpuOperations& ops, const std::vector<uint32_t>& rows) {
    for (const uint32_t i : rows) works.push_back({{ops.start[i], ops.end[i]}, false, 0});
  };
  const GpuWork& work = context.work[gpu];
  add(trace.kernels, work.kernels);
  add(trace.sets, work.sets);
  add(trace.graph_launches, work.graphs);
  for (const uint32_t i : work.copies)
    works.push_back({{trace.copies.start[i], trace.copies.end[i]},
                     trace.copies.direction[i] == CopyDirection::kUnifiedDeviceToHost,
                     trace.copies.bytes[i]});
  std::stable_sort(works.begin(), works.end(),
                   [](const Work& a, const Work& b) { return a.time.start < b.time.start; });
  std::vector<Pause> pauses;
  Ns until = 0;
  const Work* last = nullptr;  // what ended last
  for (const Work& w : works) {
    const Ns pause = std::min(w.time.start, window.end) - std::max(until, window.start);
    if (w.to_host && last != nullptr && last->to_host && pause > 0 && pause <= kLongestAccess)
      pauses.push_back({static_cast<double>(pause), static_cast<double>(last->bytes)});
    if (w.time.end < until) continue;
    until = w.time.end;
    last = &w;
  }
  return pauses;
}

// From so many times the longest execution of a kernel without pages that arrive what one with them takes
// more is the wait for these: it handles a fault of theirs for longer than it moves them.
constexpr Ns kTimesLonger = 2;

// By executions of the same kernel without pages that arrive, the first part of those with some.
std::vector<Interval> LongerWithPages(const Context& context, size_t gpu, const IntervalSet& arriving) {
  const Kernels& kernels = context.trace.kernels;
  std::map<NameId, Ns> longest;
  std::vector<uint32_t> with_pages;
  for (const uint32_t i : context.work[gpu].kernels) {
    const auto page = std::ranges::upper_bound(arriving, kernels.start[i], {}, &Interval::end);
    if (page != arriving.end() && page->start < kernels.end[i]) {
      with_pages.push_back(i);
      continue;
    }
    Ns& without = longest[kernels.name[i]];
    without = std::max(without, kernels.end[i] - kernels.start[i]);
  }
  std::vector<Interval> waits;
  for (const uint32_t i : with_pages) {
    const auto without = longest.find(kernels.name[i]);
    const Ns length = kernels.end[i] - kernels.start[i];
    if (without != longest.end() && length > kTimesLonger * without->second)
      waits.push_back({kernels.start[i], kernels.end[i] - without->second});
  }
  return waits;
}

IntervalSet KernelTimes(const Context& context, size_t gpu) {
  std::vector<Interval> kernels;
  for (const uint32_t i : context.work[gpu].kernels)
    kernels.push_back({context.trace.kernels.start[i], context.trace.kernels.end[i]});
  return Union(std::move(kernels));
}

// Time of kernels in which pages come to the GPU one after the other, and of those that take many times as
// long with them: what they wait for them.
Ns KernelWait(const Context& context, size_t gpu, std::vector<Interval> arriving) {
  if (arriving.empty()) return 0;
  std::stable_sort(arriving.begin(), arriving.end(),
                   [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::vector<Interval> longer = LongerWithPages(context, gpu, Union(arriving));
  for (size_t i = 1; i < arriving.size(); ++i) {
    Interval& before = arriving[i - 1];
    if (arriving[i].start - before.end <= kLongestFault) before.end = std::max(before.end, arriving[i].start);
  }
  const IntervalSet waiting = Intersect(Union(std::move(arriving)), KernelTimes(context, gpu));
  longer.insert(longer.end(), waiting.begin(), waiting.end());
  return Length(Clip(Union(std::move(longer)), context.windows[gpu]));
}

}  // namespace

const RelationOf<UnifiedMemoryRow>& UnifiedMemoryRelation() {
  static const auto relation =
      RelationOf<UnifiedMemoryRow>("unified_memory",
                                   "Page faults and migrations of unified memory, in the analysed window.")
          .Key("rank", &UnifiedMemoryRow::rank, kRankNumber, "Rank.")
          .Key("device", &UnifiedMemoryRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("gpu_faults", &UnifiedMemoryRow::gpu_faults, Unit::kCount, "Page faults of the GPU.",
                  capability::kGpuPageFaults)
          .Column("gpu_fault_ns", &UnifiedMemoryRow::gpu_fault_ns, Unit::kNanoseconds,
                  "Time in which they were handled (union).", capability::kGpuPageFaults)
          .Column("cpu_faults", &UnifiedMemoryRow::cpu_faults, Unit::kCount, "Page faults of the CPU.",
                  capability::kCpuPageFaults)
          .Column("migrations", &UnifiedMemoryRow::migrations, Unit::kCount, "Migrations.")
          .Column("to_device_bytes", &UnifiedMemoryRow::to_device_bytes, Unit::kBytes,
                  "Bytes that moved to the GPU.")
          .Column("to_host_bytes", &UnifiedMemoryRow::to_host_bytes, Unit::kBytes,
                  "Bytes that moved to the host.")
          .Column("migration_ns", &UnifiedMemoryRow::migration_ns, Unit::kNanoseconds,
                  "Time with a migration (union).")
          .Column("arriving_ns", &UnifiedMemoryRow::arriving_ns, Unit::kNanoseconds,
                  "Time with a migration to the GPU while a kernel runs (union).")
          .Column("turns", &UnifiedMemoryRow::turns, Unit::kCount,
                  "Times that migrations to the GPU begin again after some to the host.")
          .Column("host_access_ns", &UnifiedMemoryRow::host_access_ns, Unit::kNanoseconds,
                  "Time between migrations to the host that follow each other within 10 ms, in which the "
                  "GPU does nothing: the host goes through the pages.")
          .Column("host_fault_ns", &UnifiedMemoryRow::host_fault_ns, Unit::kNanoseconds,
                  "The part of it that does not grow with the bytes of the page before: what the host waits "
                  "for pages, where the rest is its own work on them. Unknown where pauses do not grow so.")
          .Column("kernel_wait_ns", &UnifiedMemoryRow::kernel_wait_ns, Unit::kNanoseconds,
                  "Time of kernels in which migrations to the GPU follow each other within 100 us, and what "
                  "they take with some beyond their longest execution without, where that is half of it and "
                  "more: what kernels wait for pages that they touch, where none are prefetched.");
  return relation;
}

std::vector<UnifiedMemoryRow> ComputeUnifiedMemory(const Context& context) {
  const Trace& trace = context.trace;
  const PageFaults& faults = trace.page_faults;
  bool gpu_captured = false, cpu_captured = false;
  for (const uint32_t device : faults.device) (device == kNoIndex ? cpu_captured : gpu_captured) = true;
  std::vector<UnifiedMemoryRow> rows;
  for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu) {
    const Ranks::Gpu& where = context.ranks.gpus[gpu];
    const Interval window = context.windows[gpu];
    const auto inside = [&](Ns time) { return time >= window.start && time < window.end; };
    UnifiedMemoryRow row;
    row.rank = where.rank;
    row.device = trace.devices[where.device].ordinal;
    int64_t gpu_faults = 0, cpu_faults = 0;
    std::vector<Interval> handled, moving, arriving;
    bool last_to_host = false;
    for (size_t i = 0; i < faults.size(); ++i) {
      if (faults.process[i] != where.process || !inside(faults.start[i])) continue;
      if (faults.device[i] == kNoIndex) {
        cpu_faults += faults.faults[i];
      } else if (faults.device[i] == where.device) {
        gpu_faults += faults.faults[i];
        handled.push_back({faults.start[i], faults.end[i]});
      }
    }
    for (const uint32_t i : context.work[gpu].copies) {
      const CopyDirection direction = trace.copies.direction[i];
      const bool to_device = direction == CopyDirection::kUnifiedHostToDevice;
      const bool to_host = direction == CopyDirection::kUnifiedDeviceToHost;
      if ((!to_device && !to_host) || !inside(trace.copies.start[i])) continue;
      ++row.migrations;
      row.turns += to_device && last_to_host;
      last_to_host = to_host;
      (to_device ? row.to_device_bytes : row.to_host_bytes) += trace.copies.bytes[i];
      moving.push_back({trace.copies.start[i], trace.copies.end[i]});
      if (to_device) arriving.push_back(moving.back());
    }
    if (gpu_captured) {
      row.gpu_faults = gpu_faults;
      row.gpu_fault_ns = Length(Clip(Union(std::move(handled)), window));
    }
    if (cpu_captured) row.cpu_faults = cpu_faults;
    row.migration_ns = Length(Clip(Union(std::move(moving)), window));
    if (row.to_host_bytes > 0) {
      const std::vector<Pause> pauses = HostAccess(context, gpu);
      for (const Pause& pause : pauses) row.host_access_ns += static_cast<Ns>(pause.ns);
      row.host_fault_ns = TimeOfFaults(pauses);
    }
    row.arriving_ns = Length(Clip(Intersect(Union(arriving), KernelTimes(context, gpu)), window));
    row.kernel_wait_ns = KernelWait(context, gpu, std::move(arriving));
    if (row.migrations + gpu_faults + cpu_faults > 0) rows.push_back(std::move(row));
  }
  return rows;
}

const Family& UnifiedMemoryFamily() {
  static const Family family = FamilyOf(UnifiedMemoryRelation(), ComputeUnifiedMemory).Detail();
  return family;
}

}  // namespace dladvisor
