// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/system.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/family/family.h"
#include "src/analysis/summary/framework_name.h"

namespace dladvisor {

const RelationOf<SystemRow>& SystemRelation() {
  static const auto relation =
      RelationOf<SystemRow>("system", "The profiled system, as far as the profile records it.")
          .Key("profile", &SystemRow::profile, kProfileNumber, "Number of the file.")
          .Column("host", &SystemRow::host, Unit::kText, "Name of the machine.")
          .Column("cpu_model", &SystemRow::cpu_model, Unit::kText, "Model of the CPU.")
          .Column("cpu_cores", &SystemRow::cpu_cores, Unit::kCount, "CPU cores.")
          .Column("gpu_count", &SystemRow::gpu_count, Unit::kCount,
                  "GPUs that ran something; all that are listed where none did, of a training's log those "
                  "of the job.")
          .Column("gpus_listed", &SystemRow::gpus_listed, Unit::kCount,
                  "GPUs that the profile lists, used or not.")
          .Column("world_size", &SystemRow::world_size, Unit::kCount,
                  "Processes of the distributed job, of which the profile may hold one.")
          .Column("distributed_backend", &SystemRow::distributed_backend, Unit::kText,
                  "Backend of torch.distributed.")
          .Column("gpu_names", &SystemRow::gpu_names, Unit::kText, "Their models, each once.")
          .Column("driver_version", &SystemRow::driver_version, Unit::kText, "GPU driver.")
          .Column("cuda_version", &SystemRow::cuda_version, Unit::kText, "CUDA version of the driver.")
          .Column("cudnn_version", &SystemRow::cudnn_version, Unit::kText,
                  "cuDNN version, where DLProf asked for it.")
          .Column("framework", &SystemRow::framework, Unit::kText, "Deep-learning framework and version.")
          .Column("framework_name", &SystemRow::framework_name, Unit::kText,
                  "PyTorch, PyTorch/XLA, TensorFlow, JAX, PaddlePaddle, RAPIDS, CuPy, Numba, OpenACC or "
                  "OpenMP: from "
                  "framework, else from how kernels and ranges are named; unknown for plain CUDA.")
          .Column(
              "vendor", &SystemRow::vendor, Unit::kText,
              "NVIDIA or AMD: by the runtime that was called (cuda, hip), else by the GPUs' names; unknown "
              "where neither shows it.")
          .Column("os", &SystemRow::os, Unit::kText, "Operating system.")
          .Column("profiler", &SystemRow::profiler, Unit::kText, "Profiler and version.")
          .Column("command", &SystemRow::command, Unit::kText, "The profiled command.");
  return relation;
}

namespace {

// Libraries that exist for AMD's GPUs only: Tensile's, MIOpen's and AITER's kernels, and the suffix of its
// code objects.
bool IsKernelOfAmd(std::string_view name) {
  return name.starts_with("Cijk_") || name.starts_with("miopen") || name.starts_with("MIOpen") ||
         name.starts_with("aiter") || name.ends_with(".kd") ||
         (name.starts_with("igemm_") && name.find("_gtcx") != std::string_view::npos);
}

// Who made the GPUs, by whose profiler it is, else by kernels that run on no other (of the first, which show
// as much as all), else by the first call of a runtime, else by a name of a GPU.
std::optional<std::string> VendorOf(const Trace& trace) {
  if (const auto known = trace.facts.find("vendor"); known != trace.facts.end()) return known->second;
  constexpr size_t kLooked = 10'000;
  for (size_t i = 0; i < std::min(trace.kernels.size(), kLooked); ++i)
    if (IsKernelOfAmd(trace.names.View(trace.kernels.name[i]))) return "AMD";
  for (const NameId id : trace.api_calls.name) {
    const std::string_view name = trace.names.View(id);
    if (name.starts_with("hip")) return "AMD";
    if (name.starts_with("cu")) return "NVIDIA";
  }
  static const RE2 amd(R"((?i)\b(AMD|Radeon|Instinct|MI\d{3})|^gfx)"),
      nvidia(R"((?i)\b(NVIDIA|Tesla|GeForce|Quadro|RTX|GTX|[ABHL]\d{2,3}|G[BH]\d{3}|V100|T4)\b)");
  std::vector<std::string> names;
  for (const Device& device : trace.devices) names.push_back(device.name);
  if (const auto known = trace.facts.find("gpu_names"); known != trace.facts.end())
    names.push_back(known->second);
  for (const std::string& name : names) {
    if (RE2::PartialMatch(name, amd)) return "AMD";
    if (RE2::PartialMatch(name, nvidia)) return "NVIDIA";
  }
  return std::nullopt;
}

}  // namespace

SystemRow ComputeSystem(const Context& context) {
  const Trace& trace = context.trace;
  const auto fact = [&](const char* key) -> std::optional<std::string> {
    const auto found = trace.facts.find(key);
    return found == trace.facts.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
  };
  SystemRow row;
  row.host = fact("host");
  row.cpu_model = fact("cpu_model");
  if (const auto cores = fact("cpu_cores")) {
    int64_t number = 0;
    if (std::from_chars(cores->data(), cores->data() + cores->size(), number).ec == std::errc() && number > 0)
      row.cpu_cores = number;
  }
  row.distributed_backend = fact("distributed_backend");
  row.driver_version = fact("driver_version");
  row.cuda_version = fact("cuda_version");
  row.cudnn_version = fact("cudnn_version");
  row.framework = fact("framework");
  row.framework_name = FrameworkName(trace, *context.texts);
  row.vendor = VendorOf(trace);
  row.os = fact("os");
  row.profiler = fact("profiler");
  if (!trace.command.empty()) row.command = fmt::format("{}", fmt::join(trace.command, " "));

  std::set<uint32_t> devices;
  for (const Ranks::Gpu& gpu : context.ranks.gpus) devices.insert(gpu.device);
  if (devices.empty())
    for (uint32_t i = 0; i < trace.devices.size(); ++i) devices.insert(i);
  std::vector<std::string> names;
  for (const uint32_t device : devices) {
    const std::string& name = trace.devices[device].name;
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  row.world_size = trace.world_size;
  if (!trace.devices.empty()) row.gpus_listed = static_cast<int64_t>(trace.devices.size());
  if (!devices.empty()) row.gpu_count = static_cast<int64_t>(devices.size());
  // A training's log lists the GPUs of one of its machines; each of its processes has one.
  if (!trace.training_log.empty() && context.ranks.gpus.empty() && trace.world_size)
    row.gpu_count = trace.world_size;
  row.gpu_names = names.empty() ? fact("gpu_names") : fmt::format("{}", fmt::join(names, ", "));
  return row;
}

const Family& SystemFamily() {
  static const Family family = FamilyOf(SystemRelation(), ComputeSystem).OfFiles();
  return family;
}

}  // namespace dladvisor
