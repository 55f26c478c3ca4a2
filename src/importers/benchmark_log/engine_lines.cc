// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/engine_lines.h"

#include <re2/re2.h>

#include <array>
#include <optional>

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestOfSummary = 400, kLongestOption = 240;
constexpr double kNsPerMs = 1e6, kNsPerS = 1e9;
constexpr int64_t kMostBatch = 1'000'000;

struct TimeLine {
  std::string_view name;
  std::optional<double> EngineTest::*to;
};
constexpr auto kTimes = std::to_array<TimeLine>({
    {"Latency: ", &EngineTest::latency_ns},
    {"Enqueue Time: ", &EngineTest::enqueue_ns},
    {"H2D Latency: ", &EngineTest::upload_ns},
    {"GPU Compute Time: ", &EngineTest::compute_ns},
    {"D2H Latency: ", &EngineTest::download_ns},
});

}  // namespace

void EngineLinesReader::TakeOption(std::string_view line) {
  if (line.size() > kLongestOption) return;
  // "[I] Precision: FP32+FP16", "[I] CUDA Graph: Disabled", "[I] Input inference shape : images=4x3x640x640",
  // "Batch Size 4".
  static const RE2 precision(R"(\bPrecision: ([A-Z]+\d*(?:\+[A-Z]+\d*)*))"),
      graph(R"(\bCUDA Graph: (En|Dis)abled)"), shape(R"((?i)\bshape\w* ?: ?[\w./:-]+=(\d{1,6})x)"),
      batch(R"((?i)\bbatch[ _]?size\W{0,3}(\d{1,6})\b)");
  std::string word;
  if (int64_t number = 0;
      line.find("atch") != std::string_view::npos || line.find("hape") != std::string_view::npos) {
    if ((RE2::PartialMatch(line, shape, &number) || RE2::PartialMatch(line, batch, &number)) &&
        number <= kMostBatch)
      next_.batch = number;
  }
  if (RE2::PartialMatch(line, precision, &word)) next_.precision = word;
  if (RE2::PartialMatch(line, graph, &word)) next_.graph = word == "En";
}

bool EngineLinesReader::Line(std::string_view line) {
  if (line.find("=== Performance summary ===") != std::string_view::npos) {
    tests_.push_back(next_);
    within_ = true;
    return true;
  }
  if (!within_) {
    TakeOption(line);
    return false;
  }
  if (line.size() > kLongestOfSummary) return false;
  static const RE2 rate(R"(\bThroughput: (\d+(?:\.\d+)?) qps)"), mean(R"(\bmean = (\d+(?:\.\d+)?) ms)"),
      wall(R"(\bTotal Host Walltime: (\d+(?:\.\d+)?) s)"),
      compute(R"(\bTotal GPU Compute Time: (\d+(?:\.\d+)?) s)");
  EngineTest& test = tests_.back();
  double number = 0;
  if (RE2::PartialMatch(line, rate, &number)) {
    test.queries_per_s = number;
    return true;
  }
  if (RE2::PartialMatch(line, wall, &number)) {
    test.wall_ns = number * kNsPerS;
    return true;
  }
  if (RE2::PartialMatch(line, compute, &number)) {
    test.all_compute_ns = number * kNsPerS;
    within_ = false;  // its last line
    next_.batch = 0;  // another may have another
    return true;
  }
  // "[I] H2D Latency: min = 0.1 ms, max = ..., mean = 0.12 ms", and "Latency: " of no other.
  for (const TimeLine& time : kTimes) {
    const size_t at = line.find(time.name);
    if (at == std::string_view::npos ||
        (time.name == "Latency: " && at >= 4 && line.substr(at - 4, 3) != "[I]"))
      continue;
    if (RE2::PartialMatch(line, mean, &number)) test.*time.to = number * kNsPerMs;
    return true;
  }
  return false;
}

std::vector<EngineTest> EngineLinesReader::Finish() const {
  std::vector<EngineTest> tests;
  for (const EngineTest& test : tests_)
    if (test.queries_per_s > 0 && test.compute_ns.value_or(0) > 0) tests.push_back(test);
  return tests;
}

}  // namespace dladvisor::benchmark_log
