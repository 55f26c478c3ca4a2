// Which API call launched which GPU operation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/context.h"

namespace dladvisor {

// Joined on (process, correlation): correlation ids repeat between processes. Of several calls with one id
// (a runtime call and the driver call inside it) the first counts.
Launches FindLaunches(const Trace& trace);

// What an API function does to the host thread that calls it, by name as recorded ("_v3020" and "_ptsz"
// ignored).
enum class ApiKind : uint8_t { kOther, kLaunch, kSync, kCopy, kAsyncCopy, kAllocation, kLoading };
ApiKind ClassifyApi(std::string_view name);
// By name id of api_calls.name.
std::vector<ApiKind> ClassifyApis(const Trace& trace);

// The name without version and stream-mode suffixes: "cudaLaunchKernel_v7000" -> "cudaLaunchKernel".
std::string_view ApiBaseName(std::string_view name);

}  // namespace dladvisor
