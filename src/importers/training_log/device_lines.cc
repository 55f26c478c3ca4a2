// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/device_lines.h"

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
  // Both count in binary units, whatever they call them.
  static const RE2 yolo(R"(\bCUDA:(\d{1,3}) \(([^,()]{2,64}), (\d{3,7}(?:\.\d+)?) ?Mi?B\))"),
      fairseq(R"(\brank +(\d{1,4}): .*total memory = (\d{1,4}\.\d+) GB ; name = (\S.{0,60}?)\s*$)");
  int64_t index = 0;
  std::string name;
  double size = 0;
  if (line.find("CUDA:") != std::string_view::npos && RE2::PartialMatch(line, yolo, &index, &name, &size))
    size *= kMebibytes;
  else if (line.find("total memory = ") != std::string_view::npos &&
           RE2::PartialMatch(line, fairseq, &index, &size, &name))
    size *= kGibibytes;
  else
    return;
  auto known = std::ranges::lower_bound(devices, index, {}, &Device::ordinal);
  if (known == devices.end() || known->ordinal != index) known = devices.emplace(known);
  Device& device = *known;
  device.ordinal = index;
  device.name = name;
  device.memory_bytes = std::llround(size);
}

}  // namespace dladvisor::training_log
