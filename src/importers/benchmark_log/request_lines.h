// SPDX-License-Identifier: Apache-2.0
// What vLLM's and SGLang's clients print and save of a server under requests: "Serving Benchmark Result" with
// its lines, and the same as an object of JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class RequestLinesReader {
 public:
  // Whether the line is one of a result.
  bool Line(std::string_view line);
  // Results that count requests and name a time until the first token.
  std::vector<RequestBenchmark> Finish() const;
  // What results are in words where none of them has both, "" where one has, or there are none.
  std::string_view Lacks() const;

 private:
  bool within_ = false;                                              // a result's lines
  std::vector<std::map<std::string, double, std::less<>>> results_;  // by the names of lines, without units
};

// Of an object that a client saved; nothing of another.
std::optional<RequestBenchmark> RequestsOfJson(std::string_view text);

}  // namespace dladvisor::benchmark_log
