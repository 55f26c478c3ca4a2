// SPDX-License-Identifier: Apache-2.0
// What the categories of events of a Chrome trace mean.
#pragma once

#include <cstdint>
#include <string_view>

namespace dladvisor::kineto {

// What counts as the categories of events of torch.autograd.profiler before PyTorch 1.8: operators, and the
// time between two CUDA events around each on the GPU, which encloses that of the operators that it calls.
inline constexpr std::string_view kLegacyHost = "CPU functions", kLegacyGpu = "CUDA functions";

enum class EventCategory : uint8_t {
  kOther,
  kKernel,
  kCopy,
  kSet,
  kApiCall,
  kSync,
  kOperator,
  kAnnotation,
  kPythonFunction,
  kOverhead,
  kGraphEvent,
  kSpan,
  kMirrored,  // of what other events record: annotations as seen by the GPU
  kCounters,  // of a kernel measured by hardware counters, whose time is not its own
};

EventCategory EventCategoryOf(std::string_view category);

// Whether a complete event on a stream, of a category that is not known, is work of a device, as those of
// MTIA and of other accelerators are: not where it waits or only says when something was.
bool IsDeviceWork(std::string_view category, std::string_view name);

// torch.autograd.profiler of PyTorch before 1.8 gives its events no category, and names their processes so.
std::string_view LegacyCategory(std::string_view pid);

}  // namespace dladvisor::kineto
