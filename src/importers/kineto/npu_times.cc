// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/npu_times.h"

#include <string>

namespace dladvisor::kineto {

void NpuTimes::Add(std::string_view name, Ns length) {
  if (name == "Computing") computing += length;
  if (name == "Communication(Not Overlapped)") communicating += length;
  if (name == "Free") free += length;
  if (!name.starts_with("AscendCL@aclopCompile")) return;
  compiling += length;
  ++compiled;
}

void NpuTimes::Append(const NpuTimes& later) {
  computing += later.computing;
  communicating += later.communicating;
  free += later.free;
  compiling += later.compiling;
  compiled += later.compiled;
}

void NpuTimes::Describe(Trace& trace) const {
  if (computing > 0) {
    trace.facts["npu_computing_ns"] = std::to_string(computing);
    trace.facts["npu_communicating_ns"] = std::to_string(communicating);
    trace.facts["npu_free_ns"] = std::to_string(free);
  }
  if (compiled > 0) {
    trace.facts["npu_compiling_ns"] = std::to_string(compiling);
    trace.facts["npu_compiled"] = std::to_string(compiled);
  }
}

}  // namespace dladvisor::kineto
