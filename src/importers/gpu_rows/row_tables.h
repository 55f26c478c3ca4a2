// SPDX-License-Identifier: Apache-2.0
// What rows of GPU work and of calls refer to: threads, devices, shapes of launches, arguments, collectives.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "src/trace/launch_shapes.h"
#include "src/trace/trace.h"

namespace dladvisor::gpu_rows {

// Indices into the vectors of a trace, whose entries are made when a row first refers to them.
class Tables {
 public:
  explicit Tables(Trace& trace) : trace_(trace), shapes_(trace.kernels.shapes) {}

  uint32_t Thread(int64_t pid, int64_t tid);
  uint32_t Device(int64_t ordinal);
  int64_t Arguments(const OperatorArguments& arguments);
  int64_t Collective(const dladvisor::Collective& collective);
  uint32_t Shape(const LaunchShape& shape);

 private:
  Trace& trace_;
  std::map<std::pair<int64_t, int64_t>, uint32_t> threads_;
  std::pair<int64_t, int64_t> last_key_;  // the thread asked for last, mostly the next one too
  uint32_t last_thread_ = kNoIndex;
  std::map<int64_t, uint32_t> processes_, devices_;
  std::map<OperatorArguments, int64_t> arguments_;
  std::map<dladvisor::Collective, int64_t> collectives_;
  LaunchShapes shapes_;
};

}  // namespace dladvisor::gpu_rows
