// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/load_lines.h"

#include <re2/re2.h>

#include <algorithm>

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestOfLoad = 400, kMostLoads = 1000;
constexpr double kNsPerUs = 1e3;

}  // namespace

size_t LoadLinesReader::OfConcurrency(int64_t concurrency) {
  const auto found = std::ranges::find(tests_, concurrency, &LoadTest::concurrency);
  const auto at = static_cast<size_t>(found - tests_.begin());
  if (at == tests_.size()) tests_.emplace_back().concurrency = concurrency;
  return at;
}

bool LoadLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestOfLoad || tests_.size() >= kMostLoads) return false;
  static const RE2 head(R"(^Request concurrency: (\d{1,6})\s*$)"),
      summary(R"(^Concurrency: (\d{1,6}), throughput: ([\d.]+) infer/sec, latency (\d+) usec)"),
      rate(R"(^\s+Throughput: ([\d.]+) infer/sec)"), median(R"(^\s+p50 latency: (\d+) usec)"),
      mean(R"(^\s+Avg latency: (\d+) usec)"), inferences(R"(^\s+Inference count: (\d{1,15})\b)"),
      executions(R"(^\s+Execution count: (\d{1,15})\b)"),
      server(
          R"(^\s+Avg request latency: (\d+) usec \(overhead \d+ usec \+ queue (\d+) usec \+ compute input (\d+) usec \+ compute infer (\d+) usec \+ compute output (\d+) usec\))");
  int64_t count = 0;
  double number = 0, latency = 0;
  if (line.find("oncurrency: ") != std::string_view::npos) {
    if (RE2::PartialMatch(line, head, &count)) {
      within_ = OfConcurrency(count);
      return true;
    }
    if (RE2::PartialMatch(line, summary, &count, &number, &latency)) {
      LoadTest& test = tests_[OfConcurrency(count)];
      test.infer_per_s = number;
      if (!test.latency_ns) test.latency_ns = latency * kNsPerUs;
      within_.reset();
      return true;
    }
  }
  if (!within_) return false;
  LoadTest& test = tests_[*within_];
  if (RE2::PartialMatch(line, rate, &number)) {
    test.infer_per_s = number;
  } else if (RE2::PartialMatch(line, median, &number) ||
             (!test.latency_ns && RE2::PartialMatch(line, mean, &number))) {
    test.latency_ns = number * kNsPerUs;
  } else if (RE2::PartialMatch(line, inferences, &count)) {
    if (test.inferences == 0) test.inferences = count;
  } else if (RE2::PartialMatch(line, executions, &count)) {
    if (test.executions == 0) test.executions = count;
  } else if (double all = 0, queue = 0, input = 0, infer = 0, output = 0;
             RE2::PartialMatch(line, server, &all, &queue, &input, &infer, &output)) {
    if (test.server_ns) return true;  // of a model within it
    test.server_ns = all * kNsPerUs;
    test.queue_ns = queue * kNsPerUs;
    test.compute_ns = infer * kNsPerUs;
    test.copy_ns = (input + output) * kNsPerUs;
  } else {
    return false;
  }
  return true;
}

std::vector<LoadTest> LoadLinesReader::Finish() const {
  std::vector<LoadTest> tests;
  for (const LoadTest& test : tests_)
    if (test.infer_per_s > 0 && test.latency_ns.value_or(0) > 0) tests.push_back(test);
  std::ranges::sort(tests, {}, &LoadTest::concurrency);
  return tests;
}

}  // namespace dladvisor::benchmark_log
