// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace dladvisor::kineto {
namespace {

using nlohmann::json;

std::optional<int64_t> IntegerAt(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  if (found->is_number_float()) {
    const double real = found->get<double>();
    return real > -9e18 && real < 9e18 ? std::optional(static_cast<int64_t>(real)) : std::nullopt;
  }
  return found->get<int64_t>();
}

std::string TextAt(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->is_number() ? found->dump() : "";
}

// 12040 -> "12.4", as cudaRuntimeGetVersion numbers them.
std::string CudaVersion(int64_t number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

// 70253211 -> "7.2": ten millions and hundred thousands, as HIP_VERSION is made.
std::string HipVersion(int64_t number) {
  return fmt::format("{}.{}", number / 10'000'000, number / 100'000 % 100);
}

void ReadVersions(const json& frame, Trace& trace) {
  const std::optional<int64_t> schema = IntegerAt(frame, "schemaVersion");
  if (schema) trace.schema_version = std::to_string(*schema);
  trace.facts["profiler"] = "PyTorch profiler";
  trace.facts["framework"] = "PyTorch";
  if (const std::string version = TextAt(frame, "pytorch_version"); !version.empty()) {
    trace.facts["framework"] += " " + version;
    trace.producer_version = version;
  }
  if (const std::string host = TextAt(frame, "host_name"); !host.empty()) trace.facts["host"] = host;
  if (const auto version = IntegerAt(frame, "cuda_runtime_version"))
    trace.facts["cuda_version"] = CudaVersion(*version);
  if (const auto version = IntegerAt(frame, "hip_runtime_version"))
    trace.facts["cuda_version"] = "HIP " + HipVersion(*version);
  for (const char* option : {"record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops"})
    if (const auto value = IntegerAt(frame, option)) trace.capture_options[option] = *value ? "yes" : "no";
}

void ReadJob(const json& frame, Trace& trace) {
  const auto job = frame.find("distributedInfo");
  if (job == frame.end() || !job->is_object()) return;
  const auto rank = IntegerAt(*job, "rank"), size = IntegerAt(*job, "world_size");
  if (rank && *rank >= 0) trace.rank = rank;
  if (size && *size > 0) trace.world_size = size;
  if (const std::string backend = TextAt(*job, "backend"); !backend.empty())
    trace.facts["distributed_backend"] = backend;
  if (const std::string version = TextAt(*job, "nccl_version"); !version.empty())
    trace.facts["nccl_version"] = version;
}

Device PropertiesOf(const json& properties, int64_t ordinal) {
  Device device;
  device.ordinal = ordinal;
  device.name = TextAt(properties, "name");
  device.memory_bytes = IntegerAt(properties, "totalGlobalMem");
  device.sm_count = IntegerAt(properties, "numSms");
  device.compute_major = IntegerAt(properties, "computeMajor");
  device.compute_minor = IntegerAt(properties, "computeMinor");
  device.threads_per_sm = IntegerAt(properties, "maxThreadsPerMultiprocessor");
  device.registers_per_sm = IntegerAt(properties, "regsPerMultiprocessor");
  device.shared_bytes_per_sm = IntegerAt(properties, "sharedMemPerMultiprocessor");
  // How PyTorch's profiler names it where it is built for ROCm.
  device.amd = properties.contains("maxSharedMemoryPerMultiProcessor");
  return device;
}

// Traces list all devices of the host. AMD's number those of the events by agents, of which CPUs come first:
// where no listed device has the number, they are known only if all are alike.
void ReadDevices(const json& frame, Trace& trace) {
  const auto list = frame.find("deviceProperties");
  if (list == frame.end() || !list->is_array()) return;
  trace.facts["listed_gpus"] = std::to_string(list->size());
  std::vector<Device> listed;
  for (const json& properties : *list)
    if (properties.is_object())
      listed.push_back(PropertiesOf(properties, IntegerAt(properties, "id").value_or(-1)));
  if (listed.empty()) return;
  const auto alike = [&](const Device& d) {
    return d.name == listed[0].name && d.memory_bytes == listed[0].memory_bytes &&
           d.sm_count == listed[0].sm_count;
  };
  const bool all_alike = std::all_of(listed.begin(), listed.end(), alike);
  for (Device& used : trace.devices) {
    const auto own = std::find_if(listed.begin(), listed.end(),
                                  [&](const Device& d) { return d.ordinal == used.ordinal; });
    if (own == listed.end() && !all_alike) continue;
    const int64_t ordinal = used.ordinal;
    const bool amd = used.amd;
    used = own == listed.end() ? listed[0] : *own;
    used.ordinal = ordinal;
    used.amd |= amd;
  }
  for (const Device& device : listed) {
    const bool is_used = std::any_of(trace.devices.begin(), trace.devices.end(),
                                     [&](const Device& d) { return d.ordinal == device.ordinal; });
    if (!is_used && trace.devices.size() < listed.size()) trace.devices.push_back(device);
  }
}

}  // namespace

std::optional<int64_t> ReadFrame(const std::string& text, Trace& trace) {
  const json frame = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!frame.is_object()) {
    trace.health.notes.push_back(
        "The trace's metadata (devices, versions, rank) is damaged and was not read.");
    ReadVersions(json::object(), trace);
    return std::nullopt;
  }
  ReadVersions(frame, trace);
  ReadJob(frame, trace);
  ReadDevices(frame, trace);
  return IntegerAt(frame, "baseTimeNanoseconds");
}

}  // namespace dladvisor::kineto
