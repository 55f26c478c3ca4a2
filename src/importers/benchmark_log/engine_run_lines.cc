// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/engine_run_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestOfRun = 200, kMostRuns = 1000;
constexpr double kMs = 1e6, kS = 1e9, kMostCounted = 1e15;

struct Figure {
  std::string_view name;
  std::optional<double> RequestBenchmark::*to;
  double unit;
};
// Of all three, by their own names, without units.
constexpr auto kFigures = std::to_array<Figure>({
    {"request throughput", &RequestBenchmark::answered_per_s, 1},
    {"total output throughput", &RequestBenchmark::output_tokens_per_s, 1},
    {"total latency", &RequestBenchmark::duration_ns, kMs},
    {"average request latency", &RequestBenchmark::latency_mean_ns, kMs},
    {"average time-to-first-token", &RequestBenchmark::first_mean_ns, kMs},
    {"average time-per-output-token", &RequestBenchmark::token_mean_ns, kMs},
    {"benchmark duration", &RequestBenchmark::duration_ns, kS},
    {"total input tokens", &RequestBenchmark::input_tokens, 1},
    {"total generated tokens", &RequestBenchmark::output_tokens, 1},
    {"output token throughput", &RequestBenchmark::output_tokens_per_s, 1},
    {"total_latency", &RequestBenchmark::duration_ns, kMs},
    {"seq_throughput", &RequestBenchmark::answered_per_s, 1},
    {"token_throughput", &RequestBenchmark::output_tokens_per_s, 1},
    {"avg_sequence_latency", &RequestBenchmark::latency_mean_ns, kMs},
    {"p50_sequence_latency", &RequestBenchmark::latency_median_ns, kMs},
    {"p99_sequence_latency", &RequestBenchmark::latency_p99_ns, kMs},
    {"avg_time_to_first_token", &RequestBenchmark::first_mean_ns, kMs},
    {"avg_inter_token_latency", &RequestBenchmark::token_mean_ns, kMs},
});

bool Tells(std::string_view line, std::string_view words) { return line.find(words) != line.npos; }

}  // namespace

RequestBenchmark& EngineRunLinesReader::Of(std::string_view program) {
  // A program prints one result after the other, each with a throughput of its own.
  if (results_.empty() || results_.back().program != program) {
    RequestBenchmark& result = results_.emplace_back();
    result.program = program;
    result.served = false;
  }
  return results_.back();
}

void EngineRunLinesReader::Take(std::string_view name, double value) {
  if (results_.empty() || !std::isfinite(value) || value < 0 || value > kMostCounted) return;
  RequestBenchmark& result = results_.back();
  if (name == "number of requests" || name == "number of sequences" || name == "successful requests" ||
      name == "num_samples") {
    result.requests = static_cast<int64_t>(value);
  } else if (name == "num_error_samples") {
    result.failed = static_cast<int64_t>(value);
  } else if (name == "average input length") {
    each_input_ = value;
  } else if (name == "average output length") {
    each_output_ = value;
  } else if (const auto found = std::ranges::find(kFigures, name, &Figure::name); found != kFigures.end()) {
    result.*found->to = value * found->unit;
  }
}

bool EngineRunLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestOfRun || results_.size() >= kMostRuns) return false;
  static const RE2 vllm(
      R"(^Throughput: ([\d.]+) requests/s, ([\d.]+) (?:total )?tokens/s(?:, ([\d.]+) output tokens/s)?\s*$)"),
      totals(R"(^Total num (prompt|output) tokens: +(\d{1,15})\s*$)"),
      manager(R"(^\[BENCHMARK\] (\w+)(?:\([^)]*\))? ([\d.]+)\s*$)"),
      form(R"(^\s*([A-Z][\w .\-]*?)(?: \[[^\]]*\])?(?: \([^)]*\))?:\s+([\d.]+)(?:E\+\d+)?\s*$)");
  std::string name, value, output;
  double per_second = 0;
  if (line.starts_with("Throughput: ") && RE2::FullMatch(line, vllm, &per_second, &value, &output)) {
    RequestBenchmark& result = Of("vLLM's benchmark of throughput");
    result.answered_per_s = per_second;
    if (!output.empty()) result.output_tokens_per_s = std::strtod(output.c_str(), nullptr);
    return true;
  }
  if (line.starts_with("Total num ") && RE2::FullMatch(line, totals, &name, &value)) {
    RequestBenchmark& result = Of("vLLM's benchmark of throughput");
    (name == "prompt" ? result.input_tokens : result.output_tokens) = std::strtod(value.c_str(), nullptr);
    return true;
  }
  if (line.starts_with("[BENCHMARK] ") && RE2::FullMatch(line, manager, &name, &value)) {
    Of("gptManagerBenchmark");
    Take(name, std::strtod(value.c_str(), nullptr));
    return true;
  }
  if (line.starts_with("= REQUEST DETAILS") || line.starts_with("= PERFORMANCE OVERVIEW")) {
    if (form_ != Form::kTrtllm) Of("trtllm-bench");
    form_ = Form::kTrtllm;
    return true;
  }
  if (Tells(line, "Offline Throughput Benchmark Result") && Tells(line, "==")) {
    RequestBenchmark& result = results_.emplace_back();
    result.program = "SGLang's benchmark of throughput";
    result.served = false;
    form_ = Form::kSglang;
    return true;
  }
  if (form_ == Form::kSglang && line.starts_with("====")) {
    form_ = Form::kNone;
    return true;
  }
  if (form_ == Form::kNone || !RE2::FullMatch(line, form, &name, &value)) return false;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  Take(name, std::strtod(value.c_str(), nullptr));
  return true;
}

std::vector<RequestBenchmark> EngineRunLinesReader::Finish() const {
  std::vector<RequestBenchmark> runs;
  for (RequestBenchmark result : results_) {
    if (!result.answered_per_s && !result.output_tokens_per_s) continue;
    const double requests = std::max<double>(1, static_cast<double>(result.requests));
    if (!result.input_tokens && each_input_) result.input_tokens = *each_input_ * requests;
    if (!result.output_tokens && each_output_) result.output_tokens = *each_output_ * requests;
    // Of all requests a total, whose number the rate does not tell.
    if (result.requests == 0) result.input_tokens = result.output_tokens = std::nullopt;
    runs.push_back(std::move(result));
  }
  return runs;
}

}  // namespace dladvisor::benchmark_log
