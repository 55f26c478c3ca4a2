// SPDX-License-Identifier: Apache-2.0
#include "src/hardware/hardware.h"

#include <algorithm>
#include <cctype>

namespace dladvisor {
namespace {

// "NVIDIA A100-SXM4-80GB MIG 3g.40gb" -> "a100-sxm4-80gb".
std::string PlainName(std::string_view name) {
  std::string plain;
  for (const char c : name) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (const size_t slice = plain.find(" mig "); slice != std::string::npos) plain.resize(slice);
  for (const std::string_view vendor : {"nvidia ", "amd "})
    if (plain.starts_with(vendor)) plain.erase(0, vendor.size());
  return plain;
}

bool Holds(const std::vector<std::string>& names, const std::string& plain) {
  return std::ranges::any_of(names, [&](const std::string& name) { return PlainName(name) == plain; });
}

}  // namespace

std::optional<double> FindRate(const Rates& rates, Precision precision, ComputeUnit unit) {
  for (const Rate& rate : rates)
    if (rate.precision == precision && rate.unit == unit) return rate.value;
  return std::nullopt;
}

const Architecture* Hardware::FindArchitecture(std::string_view name) const {
  const auto found = std::ranges::find(architectures, name, &Architecture::name);
  return found == architectures.end() ? nullptr : &*found;
}

std::optional<double> DerivePeak(const Architecture& architecture, const GpuModel& model, Precision precision,
                                 ComputeUnit unit) {
  const std::optional<double> rate = FindRate(architecture.rates, precision, unit);
  // FP64 products run at the boost clock: they take less power than the wide ones of narrow numbers.
  const bool narrow = unit == ComputeUnit::kMatrix && precision != Precision::kFp64;
  const std::optional<double> clock =
      narrow && model.matrix_clock_hz ? model.matrix_clock_hz : model.boost_clock_hz;
  if (!rate || !clock || !model.multiprocessors) return std::nullopt;
  return *rate * *clock * static_cast<double>(*model.multiprocessors);
}

bool HasMemoryOf(const GpuModel& model, const GpuDescription& gpu) {
  if (!model.memory_bytes || !gpu.memory_bytes) return true;
  const double share = static_cast<double>(*gpu.memory_bytes) / *model.memory_bytes;
  return share > 0.85 && share < 1.05;
}

namespace {

// Tables of nvidia-smi have no room for long names: "Tesla V100-SXM2...". The memory has to decide.
const GpuModel* FindCutName(const Hardware& hardware, std::string_view beginning, const GpuDescription& gpu) {
  const GpuModel* only = nullptr;
  for (const GpuModel& model : hardware.models) {
    const bool begins = std::ranges::any_of(
        model.names, [&](const std::string& name) { return PlainName(name).starts_with(beginning); });
    if (!begins || !gpu.memory_bytes || !HasMemoryOf(model, gpu)) continue;
    if (only) return nullptr;
    only = &model;
  }
  return only;
}

}  // namespace

const GpuModel* FindModel(const Hardware& hardware, const GpuDescription& gpu) {
  const std::string plain = PlainName(gpu.name);
  if (plain.empty() && hardware.unnamed) return &*hardware.unnamed;
  if (plain.ends_with("..."))
    return FindCutName(hardware, std::string_view(plain).substr(0, plain.size() - 3), gpu);
  const GpuModel* only = nullptr;
  for (const GpuModel& model : hardware.models) {
    if (!plain.empty() && Holds(model.names, plain)) return &model;
    if (!Holds(model.shared_names, plain) || !HasMemoryOf(model, gpu) ||
        (gpu.multiprocessors && model.multiprocessors != gpu.multiprocessors))
      continue;
    if (only) return nullptr;
    only = &model;
  }
  return only;
}

}  // namespace dladvisor
