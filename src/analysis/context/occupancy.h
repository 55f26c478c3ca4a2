// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel fit on a streaming multiprocessor at once (theoretical occupancy).
//
// From the limits per compute capability: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability", and the CUDA Occupancy Calculator for the granularity of registers and shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor {

// Why no more blocks fit on a multiprocessor: it holds no more threads or blocks, or has no more of these.
enum class OccupancyLimit : uint8_t { kBlockSize, kRegisters, kSharedMemory };
std::string_view OccupancyLimitName(OccupancyLimit limit);

struct BlockFit {
  int64_t blocks = 0;
  OccupancyLimit limit = OccupancyLimit::kBlockSize;
  bool operator==(const BlockFit&) const = default;
};

// Blocks per multiprocessor; nothing where the device's compute capability is not known, or no block fits by
// these limits (then they are not the device's). Registers of 0 are taken as not recorded.
std::optional<BlockFit> BlocksPerSm(const Device& device, int64_t threads_per_block,
                                    int64_t registers_per_thread, int64_t shared_bytes);

// Time of a kernel in which multiprocessors have no block in its last wave, if all blocks take equally long:
// duration x (1 - waves / ceil(waves)). Nothing where waves are not known; 0 for less than one full wave,
// which is a small grid (Nsight Compute's rule LaunchConfiguration, tail effect).
std::optional<int64_t> TailNs(const Device& device, int64_t grid, int64_t duration_ns, int64_t blocks_per_sm);

// What PyTorch's profiler estimates of a kernel, and where it did not, by its formulas: the blocks that each
// multiprocessor gets, grid / multiprocessors, and the share of its threads that they keep busy at once,
// min(those blocks, BlocksPerSm) x threads per block / threads of a multiprocessor.
struct KernelEstimate {
  std::optional<double> blocks_per_sm;
  std::optional<double> occupancy;  // a ratio
  std::optional<BlockFit> fit;      // BlocksPerSm() of the device
};

class KernelEstimates {
 public:
  KernelEstimates(const Trace& trace, const Device& device);
  KernelEstimate Of(uint32_t kernel);

 private:
  std::optional<BlockFit> FitOf(uint32_t kernel);
  std::optional<double> BlocksPerSm(uint32_t kernel) const;

  // By the threads, registers and bytes that a kernel needs.
  struct Known {
    std::array<int64_t, 3> needs = {-1, -1, -1};
    std::optional<BlockFit> fit;
  };

  const Trace& trace_;
  const Device& device_;
  int64_t multiprocessors_, threads_;  // of the device, and of each of them; 0 where it is not known
  std::vector<Known> fits_;            // the last one of each hash: kernels need few different things
};

}  // namespace dladvisor
