// SPDX-License-Identifier: Apache-2.0
// What Triton's perf_analyzer prints of a server under more and more requests at once: "Request concurrency:
// 4" with what the client and the server measured below it, and the summary "Concurrency: 4, throughput:
// ...".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class LoadLinesReader {
 public:
  // Whether the line is one of a measurement.
  bool Line(std::string_view line);
  // Those with a throughput and a latency, by their concurrency.
  std::vector<LoadTest> Finish() const;

 private:
  size_t OfConcurrency(int64_t concurrency);

  std::vector<LoadTest> tests_;
  std::optional<size_t> within_;  // the test that lines are of
};

}  // namespace dladvisor::benchmark_log
