// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/request_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/importers/bytes/plain_json.h"

namespace dladvisor::benchmark_log {
namespace {
using Values = std::map<std::string, double, std::less<>>;

constexpr double kMillisecond = 1e6, kSecond = 1e9;
constexpr double kMostRequests = 1e15;  // more are no count
constexpr size_t kLongestOfResult = 160;
constexpr std::string_view kNoAnswer = "without a request that was answered",
                           kNoFirstToken = "that names no time until the first token";

// The name of a value in lines and in JSON.
struct Value {
  std::string_view line, json;
  std::optional<double> RequestBenchmark::*to;
  double unit;
};
constexpr auto kValues = std::to_array<Value>({
    {"failed requests", "failed", nullptr, 1},
    {"maximum request concurrency", "max_concurrency", &RequestBenchmark::limit, 1},
    {"max request concurrency", "", &RequestBenchmark::limit, 1},
    {"request rate configured", "request_rate", &RequestBenchmark::request_rate, 1},
    {"traffic request rate", "", &RequestBenchmark::request_rate, 1},
    {"benchmark duration", "duration", &RequestBenchmark::duration_ns, kSecond},
    {"total input tokens", "total_input_tokens", &RequestBenchmark::input_tokens, 1},
    {"total generated tokens", "total_output_tokens", &RequestBenchmark::output_tokens, 1},
    {"output token throughput", "output_throughput", &RequestBenchmark::output_tokens_per_s, 1},
    {"mean ttft", "mean_ttft_ms", &RequestBenchmark::first_mean_ns, kMillisecond},
    {"median ttft", "median_ttft_ms", &RequestBenchmark::first_median_ns, kMillisecond},
    {"p99 ttft", "p99_ttft_ms", &RequestBenchmark::first_p99_ns, kMillisecond},
    {"mean tpot", "mean_tpot_ms", &RequestBenchmark::token_mean_ns, kMillisecond},
    {"median tpot", "median_tpot_ms", &RequestBenchmark::token_median_ns, kMillisecond},
});

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::optional<RequestBenchmark> Made(const Values& values, bool of_json) {
  const auto find = [&](std::string_view name) {
    const auto found = name.empty() ? values.end() : values.find(name);
    return found == values.end() || !std::isfinite(found->second) ? std::nullopt
                                                                  : std::optional(found->second);
  };
  RequestBenchmark result;
  const auto requests = find(of_json ? "completed" : "successful requests");
  if (!requests || *requests < 1 || *requests > kMostRequests) return std::nullopt;
  result.requests = static_cast<int64_t>(*requests);
  for (const Value& value : kValues) {
    const auto found = find(of_json ? value.json : value.line);
    if (!found || *found < 0 || (value.to == nullptr && *found > kMostRequests)) continue;
    if (value.to == nullptr)
      result.failed = static_cast<int64_t>(*found);
    else
      result.*value.to = *found * value.unit;
  }
  return result.first_mean_ns || result.first_median_ns ? std::optional(result) : std::nullopt;
}

}  // namespace

bool RequestLinesReader::Line(std::string_view line) {
  if (line.find("Serving Benchmark Result") != std::string_view::npos &&
      line.find("==") != std::string_view::npos) {
    results_.emplace_back();
    within_ = true;
    return true;
  }
  if (!within_ || line.size() > kLongestOfResult) return false;
  if (line.find("====") != std::string_view::npos) {
    within_ = false;
    return true;
  }
  // "Mean TTFT (ms):                          12532.30", "---------------Time to First Token----------------"
  static const RE2 form(R"(^\s*([A-Z][\w .\-]*?)(?: \([^)]*\))?: +(\d+(?:\.\d+)?|inf)\s*$)"),
      title(R"(^\s*-{3,}.*-{3,}\s*$)");
  std::string name, value;
  if (!RE2::FullMatch(line, form, &name, &value)) return RE2::PartialMatch(line, title);
  results_.back().emplace(Lower(name), std::strtod(value.c_str(), nullptr));
  return true;
}

std::vector<RequestBenchmark> RequestLinesReader::Finish() const {
  std::vector<RequestBenchmark> benchmarks;
  for (const Values& values : results_)
    if (const auto made = Made(values, false)) benchmarks.push_back(*made);
  return benchmarks;
}

std::string_view RequestLinesReader::Lacks() const {
  if (results_.empty() || !Finish().empty()) return "";
  const bool none = std::ranges::all_of(results_, [](const Values& values) {
    const auto requests = values.find("successful requests");
    return requests != values.end() && requests->second < 1;
  });
  return none ? kNoAnswer : kNoFirstToken;
}

std::optional<RequestBenchmark> RequestsOfJson(std::string_view text) {
  // Python writes an endless rate as a bare word.
  const auto object = nlohmann::json::parse(PlainJson(text), nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Values values;
  for (const auto& [name, value] : object.items())
    if (value.is_number()) values.emplace(name, value.get<double>());
  return Made(values, true);
}

}  // namespace dladvisor::benchmark_log
