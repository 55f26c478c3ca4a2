// SPDX-License-Identifier: Apache-2.0
// What a profiler of single kernels measured of one: how it was launched, how near it came to what the GPU
// can do, and what the profiler's own rules say. Shares are of 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dladvisor {

// What a rule of the profiler said.
struct ProfilerMessage {
  std::string kind;                    // "OPT", "WRN", "INF", "OK"
  std::string about;                   // "uncoalesced", "bank-conflicts", ..., "" where it is not known
  std::string text;                    // which may be cut
  std::optional<double> most_speedup;  // the share of the kernel's time that it may save at most
  bool is_local = false;               // whether that share is of a part of the kernel's work
};

// Of the longest launch of a kernel, or of all its launches on average.
struct KernelMeasurement {
  int64_t row = 0;  // in SummaryTable::rows
  std::optional<double> grid_blocks, block_threads, registers, shared_bytes, multiprocessors, waves;
  std::optional<double> theoretical_occupancy, achieved_occupancy;
  std::optional<double> blocks_by_registers, blocks_by_shared_memory, blocks_by_warps, blocks_by_slots;
  std::optional<double> compute_share, memory_share, dram_share, l1_share, l2_share;
  std::string pipe;                                          // the busiest one
  std::optional<double> pipe_share, fp32_share, fp64_share;  // of its peak, and of those of FP32 and FP64
  std::optional<double> multiprocessor_share;  // of the time in which a multiprocessor has work, on average
  std::optional<double> lane_share;            // lanes of a warp that work, on average
  // Of the bytes that loads and stores move, those that threads asked for.
  std::optional<double> load_efficiency, store_efficiency, access_efficiency;
  std::string waits_for;              // what warps wait for most: "for data from memory"
  std::optional<double> waits_share;  // of their waits
  std::vector<ProfilerMessage> messages;
};

}  // namespace dladvisor
