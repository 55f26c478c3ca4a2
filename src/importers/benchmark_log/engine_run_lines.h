// SPDX-License-Identifier: Apache-2.0
// What benchmarks of an engine of language models print that has all requests from the start, without a
// server: trtllm-bench and gptManagerBenchmark of TensorRT-LLM, "vllm bench throughput", SGLang's
// bench_offline_throughput.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class EngineRunLinesReader {
 public:
  // Whether the line is one of a result.
  bool Line(std::string_view line);
  // Results that tell how much is answered in a time.
  std::vector<RequestBenchmark> Finish() const;

 private:
  enum class Form { kNone, kTrtllm, kSglang };
  void Take(std::string_view name, double value);
  RequestBenchmark& Of(std::string_view program);

  Form form_ = Form::kNone;
  std::optional<double> each_input_, each_output_;  // tokens of a request, where the means are printed
  std::vector<RequestBenchmark> results_;
};

}  // namespace dladvisor::benchmark_log
