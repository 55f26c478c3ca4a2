// SPDX-License-Identifier: Apache-2.0
// Whose a Chrome trace is that PyTorch's profiler did not write alone, by the names of its processes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dladvisor::kineto {

using ProcessNames = std::map<int64_t, std::string>;

// The process that holds the work of an accelerator whose events are not read; "" where there is none.
std::string_view AcceleratorOf(const ProcessNames& names);

// A trace without an event that is read.
struct OtherTrace {
  std::string_view what, next_step;
};
std::optional<OtherTrace> OtherTraceOf(const ProcessNames& names);

}  // namespace dladvisor::kineto
