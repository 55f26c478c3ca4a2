// SPDX-License-Identifier: Apache-2.0
// The summary that a load test of one's own writes as JSON: how many requests were answered in a second, and
// percentiles of what they took ("{"summary": {"total_requests": 3150, "achieved_rps": 10.4, "latency_p50":
// 1.1, ...}, "results": [...]}").
#pragma once

#include <optional>
#include <string_view>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

// Nothing where it lacks either, or the unit of its times.
std::optional<RequestBenchmark> LoadTestOfJson(std::string_view text);

}  // namespace dladvisor::benchmark_log
