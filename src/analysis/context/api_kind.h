// SPDX-License-Identifier: Apache-2.0
// What an API function does to the host thread that calls it, by its name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor {

// `name` as recorded; "_v3020" and "_ptsz" are ignored.
enum class ApiKind : uint8_t { kOther, kLaunch, kSync, kCopy, kAsyncCopy, kAllocation, kLoading, kPrefetch };
ApiKind ClassifyApi(std::string_view name);
// By name id of api_calls.name.
std::vector<ApiKind> ClassifyApis(const Trace& trace);

// Whether no call gives a GPU anything to do or to hold: what is there only asks about GPUs, as PyTorch and
// its profiler do wherever the model runs.
bool GivesGpusNothing(const Trace& trace);

// The name without version and stream-mode suffixes: "cudaLaunchKernel_v7000" -> "cudaLaunchKernel".
std::string_view ApiBaseName(std::string_view name);

}  // namespace dladvisor
