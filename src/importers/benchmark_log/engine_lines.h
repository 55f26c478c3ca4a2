// SPDX-License-Identifier: Apache-2.0
// What TensorRT's trtexec prints of an engine that it timed: "=== Performance summary ===" and the lines
// below it, with what its options say of precision, shapes and CUDA graphs above.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class EngineLinesReader {
 public:
  // Whether the line is one of a summary.
  bool Line(std::string_view line);
  // Summaries with a throughput and the time of an inference.
  std::vector<EngineTest> Finish() const;

 private:
  void TakeOption(std::string_view line);

  EngineTest next_;  // what options say of the engine to come
  bool within_ = false;
  std::vector<EngineTest> tests_;
};

}  // namespace dladvisor::benchmark_log
