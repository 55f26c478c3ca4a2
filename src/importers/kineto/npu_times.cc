// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/npu_times.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

namespace dladvisor::kineto {
namespace {

// Ends of events may be rounded.
constexpr double kMostOfSpan = 1.01;

Ns Sum(Ns a, Ns b) {
  Ns sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<Ns>::max() : std::numeric_limits<Ns>::min();
}

}  // namespace

void NpuTimes::Add(std::string_view name, Ns start, Ns length) {
  Ns* const state = name == "Computing"                       ? &computing
                    : name == "Communication(Not Overlapped)" ? &communicating
                    : name == "Free"                          ? &free
                                                              : nullptr;
  if (state != nullptr) {
    *state = Sum(*state, length);
    begin = std::min(begin, start);
    end = std::max(end, Sum(start, length));
  }
  if (!name.starts_with("AscendCL@aclopCompile")) return;
  compiling = Sum(compiling, length);
  ++compiled;
}

void NpuTimes::Append(const NpuTimes& later) {
  computing = Sum(computing, later.computing);
  communicating = Sum(communicating, later.communicating);
  free = Sum(free, later.free);
  compiling = Sum(compiling, later.compiling);
  compiled += later.compiled;
  begin = std::min(begin, later.begin);
  end = std::max(end, later.end);
}

void NpuTimes::Describe(Trace& trace) const {
  const double states =
      static_cast<double>(computing) + static_cast<double>(communicating) + static_cast<double>(free);
  const double span = static_cast<double>(end) - static_cast<double>(begin);
  if (computing > 0 && states <= kMostOfSpan * span) {
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
