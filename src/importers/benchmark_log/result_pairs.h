// SPDX-License-Identifier: Apache-2.0
// A line of results as pairs of names and values: "backend=eager batch=8 latency_ms=12.4", "Batch size: 8 |
// Latency: 12.4 ms", or as one result with its name, "Naive kernel: 14.2 ms (0.5 TFLOPS)".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor::benchmark_log {

using Pairs = std::vector<std::pair<std::string, std::string>>;  // names and values

struct PairsOfLine {
  std::string before;  // text in front of the first pair
  Pairs pairs;
};

// No pairs where the line is a sentence, code or a table. A unit of a rate stands with its name: "throughput
// (tok/s)".
PairsOfLine PairsIn(std::string_view line);

struct NamedResult {
  std::string name;
  std::string value;  // a time with its unit, "14.2 ms", or the number of a rate
  std::string rate;   // its unit; "" of a time
};

std::optional<NamedResult> NamedResultIn(std::string_view line);

// "Speedup: 3.2x"
std::optional<double> SpeedupIn(std::string_view line);

// Without what loggers print in front of lines, and the marks of lists.
std::string_view WithoutLogger(std::string_view line);

}  // namespace dladvisor::benchmark_log
