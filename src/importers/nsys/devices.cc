// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/devices.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dladvisor::nsys {

using sqlite::Database;
using sqlite::Rows;

namespace {

constexpr int64_t kLastDevice = 4095, kWarp = 32;

std::optional<int64_t> Positive(const Rows& rows, size_t column, int64_t factor = 1) {
  const std::optional<int64_t> value = rows.Integer(column);
  int64_t product = 0;
  if (!value || *value <= 0 || __builtin_mul_overflow(*value, factor, &product)) return std::nullopt;
  return product;
}

std::optional<int64_t> NotNegative(const Rows& rows, size_t column) {
  const std::optional<int64_t> value = rows.Integer(column);
  return value && *value >= 0 ? value : std::nullopt;
}

Device Unknown(int64_t ordinal) {
  Device device;
  device.ordinal = ordinal;
  return device;
}

}  // namespace

Devices::Devices(const Database& db, Trace& trace) : trace_(trace) {
  std::map<std::pair<int64_t, int64_t>, int64_t> gpu_of;
  std::map<int64_t, std::set<int64_t>> gpus_by_cuda, cudas_by_gpu;
  Rows mapping(db, "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"});
  while (mapping.Next()) {
    const auto gpu = mapping.Integer(0), cuda = mapping.Integer(1);
    if (!gpu || !cuda || *gpu < 0 || *gpu > kLastDevice || *cuda < 0 || *cuda > kLastDevice) continue;
    gpu_of[{mapping.Integer(2, 0) & 0xFFFFFF, *cuda}] = *gpu;
    gpus_by_cuda[*cuda].insert(*gpu);
    cudas_by_gpu[*gpu].insert(*cuda);
  }
  const auto several = [](const auto& sets) {
    return std::any_of(sets.begin(), sets.end(), [](const auto& entry) { return entry.second.size() > 1; });
  };
  if (several(gpus_by_cuda) || several(cudas_by_gpu)) {
    gpu_of_ = std::move(gpu_of);
    trace_.health.notes.push_back(
        "The processes number their GPUs differently; devices here carry the profiler's GPU ids.");
  } else {
    for (const auto& [gpu, cudas] : cudas_by_gpu) cuda_of_gpu_[gpu] = *cudas.begin();
  }
  ReadOldGpus(db);
  ReadGpus(db);
}

// Exports of 2020 and 2021 describe CUDA devices apart from the adapters of the machine.
void Devices::ReadOldGpus(const Database& db) {
  Rows rows(db, "TARGET_INFO_CUDA_GPU",
            {"deviceId", "name", "numMultiprocessors", "globalMemorySize", "globalMemoryBandwidth",
             "l2CacheSize", "coreClockRate", "computeCapabilityMajor", "computeCapabilityMinor", "pciBusId"});
  while (rows.Next()) {
    const auto id = rows.Integer(0);
    if (!id || *id < 0 || *id > kLastDevice || by_ordinal_.contains(*id)) continue;
    // The oldest of them give memory in MiB, and then a bandwidth that is not a bandwidth; later ones bytes,
    // and kB/s. Clock rates are in kHz in both.
    const bool in_mib = rows.Integer(3, 0) < (1 << 24);
    Device device{.ordinal = *id,
                  .name = std::string(rows.Text(1)),
                  .sm_count = Positive(rows, 2),
                  .memory_bytes = Positive(rows, 3, in_mib ? 1 << 20 : 1),
                  .memory_bandwidth = in_mib ? std::nullopt : Positive(rows, 4, 1000),
                  .l2_bytes = Positive(rows, 5),
                  .clock_hz = Positive(rows, 6, 1000),
                  .compute_major = Positive(rows, 7),
                  .compute_minor = NotNegative(rows, 8),
                  .bus = std::string(rows.Text(9)),
                  .uuid = ""};
    Add(std::move(device));
  }
}

void Devices::ReadGpus(const Database& db) {
  Rows rows(db, "TARGET_INFO_GPU",
            {"id", "deviceId", "cuDevice", "name", "smCount", "totalMemory", "memoryBandwidth", "l2CacheSize",
             "clockRate", "computeMajor", "computeMinor", "busLocation", "uuid", "maxShmemPerSm",
             "maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm", "threadsPerWarp"});
  const bool described_before = !trace_.devices.empty();
  while (rows.Next()) {
    const auto gpu = rows.Integer(0) ? rows.Integer(0) : rows.Integer(1);
    if (!gpu || *gpu < 0 || *gpu > kLastDevice) continue;
    Device device{
        .ordinal = *gpu,
        .name = std::string(rows.Text(3)),
        .sm_count = Positive(rows, 4),
        .memory_bytes = Positive(rows, 5),
        .memory_bandwidth = Positive(rows, 6),
        .l2_bytes = Positive(rows, 7),
        .clock_hz = Positive(rows, 8),
        .compute_major = Positive(rows, 9),
        .compute_minor = NotNegative(rows, 10),
        .bus = std::string(rows.Text(11)),
        .uuid = std::string(rows.Text(12)),
        .shared_bytes_per_sm = Positive(rows, 13),
        .threads_per_sm = Positive(rows, 14, std::clamp<int64_t>(rows.Integer(17, kWarp), 1, kWarp)),
        .blocks_per_sm = Positive(rows, 15),
        .registers_per_sm = Positive(rows, 16)};
    if (described_before) {  // the CUDA table has said it better; ids here count all adapters
      const auto same = std::find_if(trace_.devices.begin(), trace_.devices.end(), [&](const Device& known) {
        return known.bus == device.bus || known.ordinal == device.ordinal;
      });
      if (same != trace_.devices.end()) continue;
    }
    // A display adapter: listed, but no CUDA device.
    if (rows.HasColumn(4) && !device.sm_count && (rows.IsNull(2) || device.name.empty())) continue;
    if (!gpu_of_.empty()) {
      by_gpu_[*gpu] = Add(std::move(device));
    } else if (!cuda_of_gpu_.empty()) {
      const auto cuda = cuda_of_gpu_.find(*gpu);
      if (cuda == cuda_of_gpu_.end()) {
        hidden_.emplace(*gpu, std::move(device));
        continue;
      }
      device.ordinal = cuda->second;
      by_gpu_[*gpu] = Add(std::move(device));
    } else {
      const int64_t cuda = rows.Integer(2, *gpu);
      if (cuda >= 0 && cuda <= kLastDevice) device.ordinal = cuda;
      if (const auto taken = by_ordinal_.find(device.ordinal); taken != by_ordinal_.end()) {
        by_gpu_.emplace(*gpu, taken->second);
        continue;
      }
      by_gpu_[*gpu] = Add(std::move(device));
    }
  }
}

uint32_t Devices::Add(Device device) {
  const auto index = static_cast<uint32_t>(trace_.devices.size());
  const auto [it, is_new] = by_ordinal_.try_emplace(device.ordinal, index);
  if (is_new) trace_.devices.push_back(std::move(device));
  return it->second;
}

uint32_t Devices::ByOrdinal(int64_t ordinal) {
  const auto it = by_ordinal_.find(ordinal);
  return it != by_ordinal_.end() ? it->second : Add(Unknown(ordinal));
}

std::optional<uint32_t> Devices::OfEvent(int64_t global_pid, std::optional<int64_t> device_id) {
  if (!device_id || *device_id < 0 || *device_id > kLastDevice) return std::nullopt;
  if (gpu_of_.empty()) return ByOrdinal(*device_id);
  const auto gpu = gpu_of_.find({PidOf(global_pid), *device_id});
  return ByOrdinal(gpu == gpu_of_.end() ? *device_id : gpu->second);
}

std::optional<uint32_t> Devices::OfGpu(int64_t gpu_id) {
  if (gpu_id < 0 || gpu_id > kLastDevice) return std::nullopt;
  if (const auto it = by_gpu_.find(gpu_id); it != by_gpu_.end()) return it->second;
  Device device = Unknown(gpu_id);
  if (const auto hidden = hidden_.find(gpu_id); hidden != hidden_.end()) {
    // Measured, though no process saw it: it has no CUDA number, so it gets one after all others.
    device = std::move(hidden->second);
    device.ordinal = std::max(by_ordinal_.rbegin()->first, kLastDevice) + 1;
  }
  return by_gpu_[gpu_id] = Add(std::move(device));
}

}  // namespace dladvisor::nsys
