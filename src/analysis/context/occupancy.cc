// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/occupancy.h"

#include <algorithm>
#include <array>

namespace dladvisor {
namespace {

constexpr size_t kFits = 256;
constexpr int64_t kKiB = 1024, kWarp = 32, kRegisters = 64 * kKiB, kRegisterUnit = 256;

struct Limits {
  int64_t major, minor, threads, blocks, shared;  // shared memory in KiB in the table, then in bytes
  int64_t registers = kRegisters;
};

constexpr std::array<Limits, 20> kLimits = {{
    {5, 0, 2048, 32, 64},   {5, 2, 2048, 32, 96},   {5, 3, 2048, 32, 64},   {6, 0, 2048, 32, 64},
    {6, 1, 2048, 32, 96},   {6, 2, 2048, 32, 64},   {7, 0, 2048, 32, 96},   {7, 2, 2048, 32, 96},
    {7, 5, 1024, 16, 64},   {8, 0, 2048, 32, 164},  {8, 6, 1536, 16, 100},  {8, 7, 1536, 16, 164},
    {8, 9, 1536, 24, 100},  {9, 0, 2048, 32, 228},  {10, 0, 2048, 32, 228}, {10, 1, 2048, 32, 228},
    {10, 3, 2048, 32, 228}, {11, 0, 1536, 24, 228}, {12, 0, 1536, 24, 100}, {12, 1, 1536, 24, 100},
}};

// AMD's architectures are numbered, too: 9.0 is gfx90a. What of a multiprocessor a workgroup gets depends
// there on how the kernel was compiled.
bool IsAmd(const Device& device) {
  return device.amd || device.name.starts_with("AMD") || device.name.starts_with("Radeon") ||
         device.name.starts_with("gfx");
}

// What the driver states of the device itself goes before the table.
std::optional<Limits> LimitsOf(const Device& device) {
  if (IsAmd(device)) return std::nullopt;
  const auto known = std::find_if(kLimits.begin(), kLimits.end(), [&](const Limits& l) {
    return l.major == device.compute_major && l.minor == device.compute_minor;
  });
  if (known == kLimits.end()) return std::nullopt;
  Limits limits = *known;
  limits.threads = device.threads_per_sm.value_or(limits.threads);
  limits.blocks = device.blocks_per_sm.value_or(limits.blocks);
  limits.shared = device.shared_bytes_per_sm.value_or(limits.shared * kKiB);
  limits.registers = device.registers_per_sm.value_or(kRegisters);
  return limits;
}

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::string_view OccupancyLimitName(OccupancyLimit limit) {
  constexpr std::array<std::string_view, 3> kNames = {"block size", "registers", "shared memory"};
  return kNames[static_cast<size_t>(limit)];
}

std::optional<BlockFit> BlocksPerSm(const Device& device, int64_t threads_per_block,
                                    int64_t registers_per_thread, int64_t shared_bytes) {
  const std::optional<Limits> limits = LimitsOf(device);
  if (!limits || threads_per_block <= 0) return std::nullopt;
  const int64_t warps = RoundUp(threads_per_block, kWarp) / kWarp;
  BlockFit fit = {std::min(limits->blocks, limits->threads / (warps * kWarp))};
  const auto limit = [&](int64_t blocks, OccupancyLimit by) {
    if (blocks < fit.blocks) fit = {blocks, by};
  };
  if (registers_per_thread > 0)
    limit(limits->registers / RoundUp(registers_per_thread * kWarp, kRegisterUnit) / warps,
          OccupancyLimit::kRegisters);
  // Since compute capability 8.0 the system keeps 1 KiB of each block.
  const int64_t shared = shared_bytes + (limits->major >= 8 ? kKiB : 0);
  if (shared > 0) limit(limits->shared / shared, OccupancyLimit::kSharedMemory);
  return fit.blocks > 0 ? std::optional(fit) : std::nullopt;
}

std::optional<int64_t> TailNs(const Device& device, int64_t grid, int64_t duration_ns,
                              int64_t blocks_per_sm) {
  if (device.sm_count.value_or(0) <= 0 || blocks_per_sm <= 0 || grid <= 0) return std::nullopt;
  const int64_t wave = *device.sm_count * blocks_per_sm;
  if (grid < wave) return 0;
  const int64_t waves = (grid + wave - 1) / wave;
  return static_cast<int64_t>(static_cast<double>(duration_ns) *
                              (1 - static_cast<double>(grid) / static_cast<double>(waves * wave)));
}

KernelEstimates::KernelEstimates(const Trace& trace, const Device& device)
    : trace_(trace),
      device_(device),
      multiprocessors_(device.sm_count.value_or(0)),
      threads_(LimitsOf(device) ? LimitsOf(device)->threads : 0),
      fits_(kFits) {}

std::optional<BlockFit> KernelEstimates::FitOf(uint32_t kernel) {
  const Kernels& kernels = trace_.kernels;
  const std::array<int64_t, 3> needs = {kernels.block[kernel], kernels.registers[kernel],
                                        kernels.shared_bytes[kernel]};
  const uint64_t mixed = static_cast<uint64_t>(needs[0]) * 0x9E3779B97F4A7C15 ^
                         static_cast<uint64_t>(needs[1]) * 0xC2B2AE3D27D4EB4F ^
                         static_cast<uint64_t>(needs[2]) * 0x165667B19E3779F9;
  Known& known = fits_[(mixed >> 32) % kFits];
  if (needs != known.needs) known = {needs, dladvisor::BlocksPerSm(device_, needs[0], needs[1], needs[2])};
  return known.fit;
}

std::optional<double> KernelEstimates::BlocksPerSm(uint32_t kernel) const {
  const Kernels& kernels = trace_.kernels;
  if (!kernels.blocks_per_sm.empty())
    return kernels.blocks_per_sm[kernel] < 0 ? std::nullopt
                                             : std::optional<double>(kernels.blocks_per_sm[kernel]);
  const int64_t grid = kernels.grid[kernel];
  if (multiprocessors_ <= 0 || grid <= 0) return std::nullopt;
  return static_cast<double>(grid) / static_cast<double>(multiprocessors_);
}

KernelEstimate KernelEstimates::Of(uint32_t kernel) {
  const Kernels& kernels = trace_.kernels;
  KernelEstimate estimate = {BlocksPerSm(kernel), std::nullopt, FitOf(kernel)};
  if (!kernels.occupancy.empty()) {
    if (kernels.occupancy[kernel] >= 0) estimate.occupancy = kernels.occupancy[kernel] / 100.0;
  } else if (threads_ != 0 && estimate.blocks_per_sm && estimate.fit) {
    estimate.occupancy = std::min(*estimate.blocks_per_sm, static_cast<double>(estimate.fit->blocks)) *
                         static_cast<double>(kernels.block[kernel]) / static_cast<double>(threads_);
  }
  return estimate;
}

}  // namespace dladvisor
