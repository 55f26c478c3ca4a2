// SPDX-License-Identifier: Apache-2.0
// Which call launched which GPU work, where the work itself does not record it, and what a call records of
// the work that it launches. AMD's traces have grids and sizes of copies with the calls only.
#pragma once

#include <cstdint>
#include <vector>

#include "src/importers/gpu_rows/row_tables.h"
#include "src/importers/kineto/event.h"
#include "src/trace/trace.h"

namespace dladvisor::kineto {

class Launches {
 public:
  enum class Work : uint8_t { kKernel, kCopy, kSet };

  // To be called after the event has become row `row` of its table.
  void AddWork(Work work, size_t row, const Event& event);
  void AddCall(size_t row, const Event& event);
  void AddFlow(const Event& event);
  // Appends those of a chunk whose rows follow those of `trace`.
  void Append(const Launches& chunk, const Trace& trace);

  // Gives GPU work without a correlation id that of its call: by the flow between the two, else by the
  // operator that both name.
  void Correlate(Trace& trace) const;
  // Gives kernels and copies what only their calls record. Their processes must be known.
  void Describe(Trace& trace, gpu_rows::Tables& tables) const;

 private:
  // An event as flows name it.
  struct Place {
    int64_t pid, tid;
    Ns start;
    auto operator<=>(const Place&) const = default;
  };
  struct Flow {
    int64_t id;
    Place place;
    auto operator<=>(const Flow&) const = default;
  };
  struct Unlinked {
    Work work;
    size_t row;
    int64_t external;
    Place place;
  };
  struct Linked {
    int64_t external;
    size_t row;
  };
  struct Arguments {
    size_t call;
    LaunchShape shape;
    bool has_shape;
    int64_t shared_bytes, copied_bytes;
  };
  static Place PlaceOf(const Event& event);
  static GpuOperations& TableOf(Trace& trace, Work work);

  // A writer gives all of its GPU work correlation ids or none: after the first, nothing more is kept.
  bool has_correlations_ = false;
  std::vector<Unlinked> unlinked_;
  std::vector<Linked> calls_;
  std::vector<Flow> begins_, ends_;
  std::vector<Arguments> arguments_;
};

}  // namespace dladvisor::kineto
