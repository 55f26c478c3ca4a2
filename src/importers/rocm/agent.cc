// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocm/agent.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace dladvisor::rocm {
namespace {

using nlohmann::json;

std::optional<int64_t> NumberAt(const json& object, const char* key, int64_t factor = 1) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  const auto value = found->get<int64_t>();
  int64_t product = 0;
  if (value <= 0 || __builtin_mul_overflow(value, factor, &product)) return std::nullopt;
  return product;
}

// The largest of an agent's banks is the GPU's memory.
std::optional<int64_t> MemoryOf(const json& agent) {
  std::optional<int64_t> most;
  if (const auto banks = agent.find("mem_banks"); banks != agent.end() && banks->is_array())
    for (const json& bank : *banks)
      if (bank.is_object())
        if (const auto bytes = NumberAt(bank, "size_in_bytes"); bytes && *bytes > most.value_or(0))
          most = bytes;
  return most;
}

}  // namespace

std::string GpuName(std::string_view product, std::string_view target) {
  if (!product.empty()) return std::string(product);
  return target.empty() ? "" : "AMD " + std::string(target);
}

Device DeviceOf(const json& agent, std::string_view product, std::string_view target) {
  constexpr int64_t kMegahertz = 1'000'000;
  Device device;
  device.name = GpuName(product, target);
  if (!agent.is_object()) return device;
  device.sm_count = NumberAt(agent, "cu_count");
  device.memory_bytes = MemoryOf(agent);
  device.clock_hz = NumberAt(agent, "max_engine_clk_fcompute", kMegahertz);
  return device;
}

}  // namespace dladvisor::rocm
