// SPDX-License-Identifier: Apache-2.0
// CUDA devices. Every device of the target info is listed, used or not, and every one that events name.
//
// A device id counts as its process does: with a CUDA_VISIBLE_DEVICES per process, 0 is a different GPU in
// each. Where the export records them (TARGET_INFO_CUDA_DEVICE) and processes disagree, devices are numbered
// by the profiler's GPU ids instead.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "src/importers/sqlite/sqlite_reader.h"
#include "src/trace/trace.h"

namespace dladvisor::nsys {

class Devices {
 public:
  Devices(const sqlite::Database& db, Trace& trace);
  // nullopt where the number can be no device id.
  std::optional<uint32_t> OfEvent(int64_t global_pid, std::optional<int64_t> device_id);
  std::optional<uint32_t> OfGpu(int64_t gpu_id);  // by the profiler's own GPU id
  uint32_t ByOrdinal(int64_t ordinal);

 private:
  uint32_t Add(Device device);
  void ReadGpus(const sqlite::Database& db);
  void ReadOldGpus(const sqlite::Database& db);

  Trace& trace_;
  std::map<std::pair<int64_t, int64_t>, int64_t> gpu_of_;  // (pid, CUDA id) -> GPU id, when they disagree
  std::map<int64_t, int64_t> cuda_of_gpu_;                 // GPU id -> CUDA id, when they agree
  std::map<int64_t, uint32_t> by_ordinal_, by_gpu_;
  std::map<int64_t, Device> hidden_;  // GPU id -> a GPU that no process was allowed to see
};

}  // namespace dladvisor::nsys
