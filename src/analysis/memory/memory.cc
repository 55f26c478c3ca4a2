// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/memory/memory.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/context/operator_tree.h"
#include "src/analysis/family/family.h"
#include "src/capture/capability.h"

namespace dladvisor {

const RelationOf<MemoryRow>& MemoryRelation() {
  static const auto relation =
      RelationOf<MemoryRow>("memory", "Device memory per rank and device.")
          .Key("rank", &MemoryRow::rank, kRankNumber, "Rank.")
          .Key("device", &MemoryRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("total_bytes", &MemoryRow::total_bytes, Unit::kBytes, "Memory of the device.")
          .Column("peak_bytes", &MemoryRow::peak_bytes, Unit::kBytes,
                  "Most memory allocated at one time by the rank.", capability::kDeviceMemory)
          .Column("reserved_bytes", &MemoryRow::reserved_bytes, Unit::kBytes,
                  "Most memory that PyTorch's allocator has reserved, used or not.")
          .Column("used_share", &MemoryRow::used_share, Unit::kRatio,
                  "Peak over total; unknown where it is more.", capability::kDeviceMemory)
          .Column("allocations", &MemoryRow::allocations, Unit::kCount, "Allocations of the driver.",
                  capability::kDeviceMemory)
          .Column("frees", &MemoryRow::frees, Unit::kCount, "Frees of the driver.", capability::kDeviceMemory)
          .Column("peak_at_ns", &MemoryRow::peak_at_ns, Unit::kNanoseconds,
                  "When it was first reached, on the profile's clock.", capability::kDeviceMemory)
          .Column("peak_operator", &MemoryRow::peak_operator, Unit::kText,
                  "Operator of the framework that allocated then, where recorded.")
          .Column("source", &MemoryRow::source, Unit::kText, "What the peak was read from.",
                  capability::kDeviceMemory);
  return relation;
}

namespace {

// The innermost operator that is open on the thread then; one that only asks for memory, as others have it do
// for them, where there is no other.
std::optional<std::string> OperatorAt(const Context& context, uint32_t thread, Ns time) {
  const Ranges& ranges = context.trace.ranges;
  const auto after = std::upper_bound(ranges.start.begin(), ranges.start.end(), time);
  auto range = static_cast<uint32_t>(after - ranges.start.begin());
  const auto nests = [&] {
    return ranges.thread[range] == thread && ranges.kind[range] == RangeKind::kPushPop && !ranges.open[range];
  };
  do {
    if (range == 0) return std::nullopt;
    --range;
  } while (!nests());
  std::optional<std::string> innermost;
  for (; range != kNoIndex; range = context.attribution.range_parent[range]) {
    if (ranges.end[range] <= time || context.trace.names.View(ranges.domain[range]) != kOperatorDomain)
      continue;
    const std::string_view name = context.trace.names.View(ranges.name[range]);
    if (!name.starts_with("aten::empty")) return std::string(name);
    if (!innermost) innermost = name;
  }
  return innermost;
}

}  // namespace

std::vector<MemoryRow> ComputeMemory(const Context& context) {
  const Trace& trace = context.trace;
  const MemoryEvents& events = trace.memory_events;
  std::vector<MemoryRow> rows;
  for (const Ranks::Gpu& gpu : context.ranks.gpus) {
    MemoryRow row;
    row.rank = gpu.rank;
    row.device = trace.devices[gpu.device].ordinal;
    row.total_bytes = trace.devices[gpu.device].memory_bytes;
    int64_t current = 0, peak = 0, allocations = 0, frees = 0, reserved = 0;
    size_t at_peak = events.size();
    const bool of_tensors = !events.allocated.empty();
    for (size_t i = 0; i < events.size(); ++i) {
      const bool on_device =
          events.memory[i] == MemoryKind::kDevice || events.memory[i] == MemoryKind::kArray;
      if (events.process[i] != gpu.process || events.device[i] != gpu.device || !on_device) continue;
      if (of_tensors && events.allocated[i] < 0) continue;
      current = of_tensors ? events.allocated[i] : current + events.bytes[i];
      if (of_tensors) reserved = std::max(reserved, events.reserved[i]);
      if (at_peak == events.size() || current > peak) at_peak = i;
      peak = std::max(peak, current);
      ++(events.bytes[i] >= 0 ? allocations : frees);
    }
    if (allocations + frees > 0) {
      row.peak_bytes = peak;
      row.peak_at_ns = events.time[at_peak];
      if (!events.thread.empty() && events.thread[at_peak] != kNoIndex)
        row.peak_operator = OperatorAt(context, events.thread[at_peak], events.time[at_peak]);
      row.source = of_tensors ? "PyTorch's allocator" : "memory events";
      if (!of_tensors) {
        row.allocations = allocations;
        row.frees = frees;
      }
      if (reserved > 0) row.reserved_bytes = reserved;
      // More than there is lies in the host's memory in part, or its freeing was not recorded.
      if (row.total_bytes.value_or(0) >= peak && peak > 0)
        row.used_share = static_cast<double>(peak) / static_cast<double>(*row.total_bytes);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

const Family& MemoryFamily() {
  static const Family family = FamilyOf<std::vector<MemoryRow>>(MemoryRelation());
  return family;
}

}  // namespace dladvisor
