// SPDX-License-Identifier: Apache-2.0
// The names that XLA's profiler gives the processes and threads of its traces: "/host:CPU", "/device:GPU:0",
// of TensorFlow also behind "/job:localhost/replica:0/task:0"; a GPU's streams are threads of its process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dladvisor::xla {

struct ProcessKind {
  enum class Kind : uint8_t { kHost, kGpu, kTpu, kOther };
  Kind kind = Kind::kOther;
  int64_t ordinal = 0;  // of a device
};
// Nothing for the name of no process of XLA's, as "/device:GPU:0 Compute" of TensorFlow's timelines.
std::optional<ProcessKind> ProcessKindOf(std::string_view name);

// "Stream #14(MemcpyD2D,Compute)" -> 14. Nothing for lines that are derived from streams, as "XLA Modules",
// "XLA Ops", "Steps" and "TensorFlow Name Scope" are: they hold the same time once more.
std::optional<int64_t> StreamOf(std::string_view thread);

}  // namespace dladvisor::xla
