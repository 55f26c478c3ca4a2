// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler, as large as one likes, with the mix of events, arguments and lengths of names
// that real ones of training runs have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace dladvisor {

// How a trace differs from the plain one, which has three operators, a call, a kernel and two flow events per
// kernel, and an event of the allocator.
struct TraceShape {
  std::string_view name;
  int64_t python_functions = 0;  // around each operator, one in another
  int64_t memory_events = 1;     // per kernel
  int64_t batches = 1;           // of different sizes, and so shapes of tensors
  bool packed = false;           // also as path + ".gz"
};

// The plain shape first.
std::span<const TraceShape> TraceShapes();

// A trace of about `events` events in steps of some 400 kernels. Same arguments, same bytes.
void WriteChromeTrace(const std::filesystem::path& path, int64_t events, const TraceShape& shape = {});

}  // namespace dladvisor
