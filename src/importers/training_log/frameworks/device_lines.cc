// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/device_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfDevice = 512;
constexpr double kMebibytes = 1048576, kGibibytes = 1073741824;

}  // namespace

void TakeNamedDevice(std::string_view line, std::vector<Device>& devices) {
  if (line.size() > kLongestLineOfDevice) return;
  // All count in binary units, whatever they call them.
  static const RE2 yolo(R"(\bCUDA:(\d{1,3}) \(([^,()]{2,64}), (\d{3,7}(?:\.\d+)?) ?Mi?B\))"),
      fairseq(R"(\brank +(\d{1,4}): .*total memory = (\d{1,4}\.\d+) GB ; name = (\S.{0,60}?)\s*$)"),
      torchtitan(
          R"((?:^\[rank(\d{1,4})\].*)?\b[A-Z]{2,5} capacity: (\S.{0,60}?) with (\d{1,4}\.\d+)GiB memory)"),
      unsloth(R"((\w[^.|/\\]{0,60}\w)\. Num GPUs = \d+\. Max memory: (\d{1,4}\.\d+) GB\.)");
  const auto has = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
  std::string ordinal, name;
  double size = 0, unit = kGibibytes;
  if (has("CUDA:") && RE2::PartialMatch(line, yolo, &ordinal, &name, &size))
    unit = kMebibytes;
  else if (!(has("total memory = ") && RE2::PartialMatch(line, fairseq, &ordinal, &size, &name)) &&
           !(has(" capacity: ") && RE2::PartialMatch(line, torchtitan, &ordinal, &name, &size)) &&
           !(has(" Num GPUs = ") && RE2::PartialMatch(line, unsloth, &name, &size)))
    return;
  const int64_t index = ordinal.empty() ? 0 : std::stoll(ordinal);
  auto known = std::ranges::lower_bound(devices, index, {}, &Device::ordinal);
  if (known == devices.end() || known->ordinal != index) known = devices.emplace(known);
  Device& device = *known;
  device.ordinal = index;
  device.name = name;
  device.memory_bytes = std::llround(size * unit);
}

// What is held of GPUs that are alike follows from what is free.
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
