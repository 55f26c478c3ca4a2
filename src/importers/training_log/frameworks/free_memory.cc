// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/free_memory.h"

#include <algorithm>
#include <cstdint>

namespace dladvisor::training_log {

void GiveMemoryOfFree(const std::vector<Device>& devices, TrainingLog& log) {
  if (!log.least_free_bytes || !log.memory.empty() || devices.empty() || log.iterations.empty()) return;
  const auto size = devices.front().memory_bytes;
  const bool alike =
      size && std::ranges::all_of(devices, [&](const Device& device) { return device.memory_bytes == size; });
  const double held = alike ? static_cast<double>(*size) - *log.least_free_bytes : 0;
  if (!(held > 0)) return;
  TrainingMemory memory;
  memory.iteration = log.iterations.back().iteration;
  memory.max_allocated = static_cast<int64_t>(held);
  log.memory.push_back(memory);
}

}  // namespace dladvisor::training_log
