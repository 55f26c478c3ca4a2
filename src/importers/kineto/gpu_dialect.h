// SPDX-License-Identifier: Apache-2.0
// Chrome traces of other profilers that record GPU work: rocprof's (also of roctracer and rocprofv2), those
// of TensorFlow's timeline.Timeline, and those that show it by names. Their events become those of PyTorch's
// profiler.
#pragma once

#include <string>
#include <string_view>

#include "src/importers/kineto/batch.h"

namespace dladvisor::kineto {

struct GpuDialect {
  std::string_view format;     // Trace::format
  std::string_view profiler;   // for people; "" where it is unknown
  std::string_view framework;  // "" where the profiler is not of one
};

// Makes the spans of `batch` the GPU work, calls and ranges that they are, where one of these profilers wrote
// them; null and nothing done where none did.
const GpuDialect* ReadGpuDialect(Batch& batch);
// What the members of a trace around its events tell of its devices, as rocprof writes them.
void ReadAgents(const std::string& frame, Trace& trace);

}  // namespace dladvisor::kineto
