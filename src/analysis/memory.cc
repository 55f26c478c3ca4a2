#include "src/analysis/memory.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace dladvisor {

const RelationOf<MemoryRow>& MemoryRelation() {
  static const char* kFlag = "--cuda-memory-usage=true";
  static const auto relation =
      RelationOf<MemoryRow>("memory", "Device memory per rank and device.")
          .Key("rank", &MemoryRow::rank, Unit::kNone, "Rank.")
          .Key("device", &MemoryRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("total_bytes", &MemoryRow::total_bytes, Unit::kBytes, "Memory of the device.")
          .Column("peak_bytes", &MemoryRow::peak_bytes, Unit::kBytes,
                  "Most memory allocated at one time by the rank.", kFlag)
          .Column("reserved_bytes", &MemoryRow::reserved_bytes, Unit::kBytes,
                  "Most memory that PyTorch's allocator has reserved, used or not.")
          .Column("used_share", &MemoryRow::used_share, Unit::kRatio, "Peak over total.", kFlag)
          .Column("allocations", &MemoryRow::allocations, Unit::kCount, "Allocations of the driver.", kFlag)
          .Column("frees", &MemoryRow::frees, Unit::kCount, "Frees of the driver.", kFlag)
          .Column("source", &MemoryRow::source, Unit::kText, "What the peak was read from.", kFlag);
  return relation;
}

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
    bool of_tensors = false;
    for (size_t i = 0; i < events.size(); ++i) {
      const bool on_device =
          events.memory[i] == MemoryKind::kDevice || events.memory[i] == MemoryKind::kArray;
      if (events.process[i] != gpu.process || events.device[i] != gpu.device || !on_device) continue;
      const bool tells = !events.allocated.empty() && events.allocated[i] >= 0;
      of_tensors |= !events.allocated.empty();
      current = tells ? events.allocated[i] : current + events.bytes[i];
      if (tells) reserved = std::max(reserved, events.reserved[i]);
      peak = std::max(peak, current);
      ++(events.bytes[i] >= 0 ? allocations : frees);
    }
    if (allocations + frees > 0) {
      row.peak_bytes = peak;
      row.source = of_tensors ? "PyTorch's allocator" : "memory events";
      if (!of_tensors) {
        row.allocations = allocations;
        row.frees = frees;
      }
      if (reserved > 0) row.reserved_bytes = reserved;
      if (row.total_bytes.value_or(0) > 0)
        row.used_share = static_cast<double>(peak) / static_cast<double>(*row.total_bytes);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace dladvisor
