// SPDX-License-Identifier: Apache-2.0
// What each GPU of a profile can do at most, by its model: of the models that the project declares, else of
// those that the program knows (src/hardware/hardware.h). A model that neither has is unknown, and so are its
// peaks, but for the memory's bandwidth where the profile records it.
//
// Where the profile contradicts the model:
// - Fewer multiprocessors: a MIG slice, a partition, or a card that was cut under the same name. Compute
//   scales with multiprocessors, from which peaks are derived. Memory does not: how slices and partitions
//   share it differs, so that its bandwidth is unknown where the profile does not record a lower one.
// - More than 5 % more of them: not that model; all is unknown.
// - Memory of another size: a variant, whose memory may be of another kind. Its bandwidth is the recorded
//   one.
// - A recorded bandwidth that is lower by more than 5 %: that one, as drivers compute it from bus and clock
//   of the card itself. One that is higher is doubtful, and the bandwidth unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/hardware/hardware.h"

namespace dladvisor {

struct GpuPeaks {
  std::string model;                // "" where the GPU is not known
  std::string source;               // of the peaks
  bool declared = false;            // by the project
  double multiprocessor_share = 1;  // of the model's that this GPU has
  Rates peaks, achievable;          // FLOP/s
  std::optional<double> memory_bytes_per_s, achievable_memory_bytes_per_s;
  std::optional<double> link_bytes_per_s, host_bytes_per_s;  // in one direction
  // The shortest kernel that ran, which no operator beats however little it does; unknown where none was
  // short.
  std::optional<int64_t> launch_floor_ns;

  bool is_known() const { return !model.empty(); }
  std::optional<double> Peak(Precision precision, ComputeUnit unit) const {
    return FindRate(peaks, precision, unit);
  }
  std::optional<double> Achievable(Precision precision, ComputeUnit unit) const {
    return FindRate(achievable, precision, unit);
  }
};

// Of a GPU that does nothing in the profile, as one that a training's log lists. `declared` may be null.
GpuPeaks PeaksOf(const Device& device, const Hardware* declared);

// One for each of ranks.gpus, in that order.
std::vector<GpuPeaks> ComputeGpuPeaks(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<GpuPeaks>>{"gpu peaks", ComputeGpuPeaks};

struct GpuPeakRow {
  int64_t rank = 0, device = 0;
  std::string precision, unit;
  double flops_per_s = 0;
  std::optional<double> achievable_flops_per_s, memory_bytes_per_s, achievable_memory_bytes_per_s,
      link_bytes_per_s, host_bytes_per_s;
  std::optional<int64_t> launch_floor_ns;
  double multiprocessor_share = 1;
  std::string model, known_by, source;
};
const RelationOf<GpuPeakRow>& GpuPeakRelation();
std::vector<GpuPeakRow> ComputeGpuPeakRows(const Context& context, const std::vector<GpuPeaks>& peaks);

}  // namespace dladvisor
