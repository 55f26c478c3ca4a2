// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_memory.h"

#include <map>
#include <set>
#include <utility>

#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

// Of the GPUs that the log lists, where they are alike.
std::optional<int64_t> DeviceBytes(const Trace& trace) {
  std::set<std::optional<int64_t>> sizes;
  for (const Device& device : trace.devices) sizes.insert(device.memory_bytes);
  return sizes.size() == 1 ? *sizes.begin() : std::nullopt;
}

}  // namespace

const RelationOf<TrainingMemoryRow>& TrainingMemoryRelation() {
  static const auto relation =
      RelationOf<TrainingMemoryRow>(
          "training_memory", "Memory of PyTorch's allocator by rank, as last reported by a training's log.")
          .Key("profile", &TrainingMemoryRow::profile, kProfileNumber, "Number of the file.")
          .Key("rank", &TrainingMemoryRow::rank, kRankNumber,
               "Rank of the job; unknown where one rank prints and does not say which.")
          .Column("iteration", &TrainingMemoryRow::iteration, Unit::kNone, "Iteration after which.")
          .Column("allocated_bytes", &TrainingMemoryRow::allocated_bytes, Unit::kBytes, "Held by tensors.")
          .Column("max_allocated_bytes", &TrainingMemoryRow::max_allocated_bytes, Unit::kBytes,
                  "Most that tensors held.")
          .Column("reserved_bytes", &TrainingMemoryRow::reserved_bytes, Unit::kBytes,
                  "Held by the allocator, used or not.")
          .Column("max_reserved_bytes", &TrainingMemoryRow::max_reserved_bytes, Unit::kBytes,
                  "Most that the allocator held.")
          .Column("device_bytes", &TrainingMemoryRow::device_bytes, Unit::kBytes,
                  "Memory of a GPU; unknown where the log has no table of nvidia-smi.")
          .Column("used_share", &TrainingMemoryRow::used_share, Unit::kRatio,
                  "Most that tensors held, over the GPU's memory.");
  return relation;
}

std::vector<TrainingMemoryRow> ComputeTrainingMemory(const Context& context) {
  const std::optional<int64_t> device = DeviceBytes(context.trace);
  std::map<std::optional<int64_t>, TrainingMemoryRow> rows;
  for (const TrainingMemory& memory : context.trace.training_log.memory) {
    TrainingMemoryRow& row = rows[memory.rank];
    row = {0,
           memory.rank,
           memory.iteration,
           memory.allocated,
           memory.max_allocated,
           memory.reserved,
           memory.max_reserved,
           device,
           {}};
    if (row.max_allocated_bytes && device && *device > 0)
      row.used_share = static_cast<double>(*row.max_allocated_bytes) / static_cast<double>(*device);
  }
  std::vector<TrainingMemoryRow> result;
  for (auto& [rank, row] : rows) result.push_back(std::move(row));
  return result;
}

const Family& TrainingMemoryFamily() {
  static const Family family = FamilyOf(TrainingMemoryRelation(), ComputeTrainingMemory);
  return family;
}

}  // namespace dladvisor
