// SPDX-License-Identifier: Apache-2.0
// A rank's GPU work as Holistic Trace Analysis (HTA) selects and types it (github.com/facebookresearch/
// HolisticTraceAnalysis: trace.py, utils.py), over all its devices and the whole profile.
//
// Where a profile has ranges "ProfilerStep#N" of two steps or more, only work counts whose launching call was
// recorded and began before the last of them ended: what was launched before the profile is left out. Else
// everything counts.
//
// Differences: HTA goes by names alone and files AMD's copies and calls under communication, which begin
// with "hip"; we go by what an operation is. HTA takes waits that CUPTI records on a stream for work.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/context/gpu_operations.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

enum class WorkType : uint8_t { kComputation, kCommunication, kMemory };

struct ProfiledOperation {
  Interval time;
  WorkType type = WorkType::kComputation;
  int64_t stream = 0;
  uint32_t call = kNoIndex;  // that launched it, index into api_calls
  const GpuOperations* table = nullptr;
  uint32_t row = 0;  // of the table
};

struct ProfiledWork {
  int64_t rank = 0;
  GpuWork work;           // of all its devices
  std::optional<Ns> end;  // of the steps, where they limit what counts
};

// Of each rank.
std::vector<ProfiledWork> FindProfiledWork(const Context& context);

// Calls visit(ProfiledOperation) for what counts, in order of start.
template <class Visit>
void ForEachProfiled(const Context& context, const ProfiledWork& rank, Visit visit) {
  const Trace& trace = context.trace;
  const Launches& launches = context.launches;
  ForEachGpuOperation(trace, rank.work, [&](const GpuOperations& ops, uint32_t row, bool computes) {
    const std::vector<uint32_t>& calls = &ops == &trace.kernels  ? launches.kernel
                                         : &ops == &trace.copies ? launches.copy
                                         : &ops == &trace.sets   ? launches.set
                                                                 : launches.graph;
    const uint32_t call = calls[row];
    if (rank.end && (call == kNoIndex || trace.api_calls.start[call] > *rank.end)) return;
    WorkType type = computes ? WorkType::kComputation : WorkType::kMemory;
    if (&ops == &trace.kernels && context.kernels[trace.kernels.name[row]].communication)
      type = WorkType::kCommunication;
    visit(ProfiledOperation{{ops.start[row], ops.end[row]}, type, ops.stream[row], call, &ops, row});
  });
}

template <>
inline constexpr Computed kValue<std::vector<ProfiledWork>>{"profiled work", FindProfiledWork};

// Nothing where there is no whole.
std::optional<double> Share(int64_t part, int64_t whole);

}  // namespace dladvisor
