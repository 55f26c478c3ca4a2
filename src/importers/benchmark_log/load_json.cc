// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/load_json.h"

#include <re2/re2.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "src/importers/bytes/plain_json.h"

namespace dladvisor::benchmark_log {
namespace {

using LoadJson = nlohmann::json;

// Below the object itself: "latency": {"p50": ...}, "latency_ms": {"p50": ...}.
constexpr int kDeepestOfLoad = 2;

struct LoadNumbers {
  std::optional<double> requests, answered_per_s, request_rate, seconds, limit;
  std::optional<double> failed, failed_by_kind;  // all, and those of which kinds are told
  std::optional<double> mean, median, p99;       // in `unit_ns`, as all of them
  std::optional<double> unit_ns;
  bool mixed = false;  // that times have several units
};

void SetUnit(const std::optional<double>& unit, LoadNumbers& load) {
  if (!unit) return;
  load.mixed = load.mixed || load.unit_ns.value_or(*unit) != *unit;
  load.unit_ns = unit;
}

std::optional<double> UnitIn(const std::string& name) {
  static const RE2 ms(R"((?i)(?:^|_)(?:ms|milli(?:s|seconds)?)(?:$|_))"),
      s(R"((?i)(?:^|_)(?:s|secs?|seconds)(?:$|_))");
  constexpr double kMillisecond = 1e6, kSecond = 1e9;
  if (RE2::PartialMatch(name, ms)) return kMillisecond;
  return RE2::PartialMatch(name, s) ? std::optional(kSecond) : std::nullopt;
}

void TakeNumber(const std::string& name, double number, LoadNumbers& load) {
  static const RE2 requests(
      R"((?i)^(?:total_|num_|n_|completed_|successful_)?requests(?:_total|_completed)?$|^completed$)"),
      failed(R"((?i)^(?:failed|failures|errors|total_errors|(?:failed|total_failed)_requests|num_errors)$)"),
      kind_of_failure(R"((?i)^(?:timeouts|(?:http|client|server)_errors)$)"),
      rate(
          R"((?i)^(?:achieved_|actual_|effective_|mean_|avg_|throughput_)?(?:rps|qps|requests?_per_s(?:ec(?:ond)?)?|req_per_s(?:ec)?|requests?_s)$|^throughput_(?:rps|req_s|requests_per_sec(?:ond)?)$)"),
      asked(R"((?i)^(?:requested|target|offered)_(?:rps|qps|rate)$)"),
      duration(
          R"((?i)^(?:wall_clock|wall|total|elapsed|test|actual)?_?(?:duration|time|elapsed|clock)?_?(?:s|secs?|seconds)$)"),
      limit(R"((?i)^(?:concurrency|users|num_users|clients|connections|vus|max_concurrency|workers)$)"),
      mean(
          R"((?i)^(?:(?:latency|response_time|e2e)_)?(?:mean|avg|average)(?:_(?:latency|response_time))?(?:_(?:ms|s|secs?|seconds))?$)"),
      median(
          R"((?i)^(?:(?:latency|response_time|e2e)_)?(?:p50|median)(?:_(?:latency|response_time))?(?:_(?:ms|s|secs?|seconds))?$)"),
      p99(R"((?i)^(?:(?:latency|response_time|e2e)_)?p99(?:_(?:latency|response_time))?(?:_(?:ms|s|secs?|seconds))?$)");
  if (!(number >= 0)) return;
  if (RE2::FullMatch(name, requests)) load.requests = number;
  if (RE2::FullMatch(name, failed)) load.failed = std::max(load.failed.value_or(0), number);
  if (RE2::FullMatch(name, kind_of_failure)) load.failed_by_kind = load.failed_by_kind.value_or(0) + number;
  if (RE2::FullMatch(name, rate)) load.answered_per_s = number;
  if (RE2::FullMatch(name, asked)) load.request_rate = number;
  if (RE2::FullMatch(name, limit)) load.limit = number;
  if (RE2::FullMatch(name, duration)) load.seconds = std::max(load.seconds.value_or(0), number);
  const bool times = RE2::FullMatch(name, mean) || RE2::FullMatch(name, median) || RE2::FullMatch(name, p99);
  if (RE2::FullMatch(name, mean)) load.mean = number;
  if (RE2::FullMatch(name, median)) load.median = number;
  if (RE2::FullMatch(name, p99)) load.p99 = number;
  if (times) SetUnit(UnitIn(name), load);
}

void TakeObject(const LoadJson& object, int depth, LoadNumbers& load) {
  static const RE2 of_times(R"((?i)^(?:latency|latencies|response_times?|e2e)(?:_(?:ms|s|secs?|seconds))?$)");
  for (const auto& [name, value] : object.items()) {
    if (value.is_number()) TakeNumber(name, value.get<double>(), load);
    if (!value.is_object() || depth >= kDeepestOfLoad || !RE2::FullMatch(name, of_times)) continue;
    TakeObject(value, depth + 1, load);
    SetUnit(UnitIn(name), load);
  }
}

// Of requests that are listed one by one, with the unit in the name of their times.
void TakeRequests(const LoadJson& list, LoadNumbers& load) {
  static const RE2 time(
      R"((?i)^(?:latency|elapsed|duration|response_time|e2e|e2e_latency|total_time)_(?:ms|s|secs?|seconds)$)");
  double sum = 0, count = 0;
  std::optional<double> unit;
  for (const LoadJson& request : list) {
    if (!request.is_object()) return;
    for (const auto& [name, value] : request.items())
      if (value.is_number() && RE2::FullMatch(name, time)) {
        sum += value.get<double>();
        ++count;
        unit = UnitIn(name);
        break;
      }
  }
  if (!(count > 0) || !unit || (load.unit_ns && load.unit_ns != unit)) return;
  load.unit_ns = unit;
  if (!load.mean) load.mean = sum / count;
}

}  // namespace

std::optional<RequestBenchmark> LoadTestOfJson(std::string_view text) {
  const auto names = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  if (!names("requests") ||
      !(names("p50\"") || names("median") || names("mean") || names("avg") || names("p50_")))
    return std::nullopt;
  const LoadJson document = LoadJson::parse(PlainJson(text), nullptr, false);
  if (!document.is_object()) return std::nullopt;
  LoadNumbers load;
  TakeObject(document, 0, load);
  for (const char* name : {"summary", "metrics", "stats", "statistics", "aggregate", "overall"})
    if (const auto found = document.find(name); found != document.end() && found->is_object())
      TakeObject(*found, 0, load);
  for (const char* name : {"results", "requests", "samples", "records"})
    if (const auto found = document.find(name); found != document.end() && found->is_array())
      TakeRequests(*found, load);
  constexpr double kSecond = 1e9, kMostRequests = 1e15;
  if (!load.requests || !(*load.requests > 0) || *load.requests > kMostRequests || !load.unit_ns ||
      load.mixed || (!load.mean && !load.median))
    return std::nullopt;
  RequestBenchmark result;
  result.program = "a load test";
  const std::optional<double> told = load.failed ? load.failed : load.failed_by_kind;
  const double failed = std::min(told.value_or(0), *load.requests);
  result.requests = static_cast<int64_t>(*load.requests - failed);
  if (told) result.failed = static_cast<int64_t>(failed);
  result.limit = load.limit;
  result.request_rate = load.request_rate;
  if (load.seconds.value_or(0) > 0) result.duration_ns = *load.seconds * kSecond;
  result.answered_per_s = load.answered_per_s;
  if (!result.answered_per_s && result.duration_ns)
    result.answered_per_s = static_cast<double>(result.requests) / *load.seconds;
  if (!result.answered_per_s) return std::nullopt;
  const auto in_ns = [&](const std::optional<double>& time) {
    return time ? std::optional(*time * *load.unit_ns) : std::nullopt;
  };
  result.latency_mean_ns = in_ns(load.mean);
  result.latency_median_ns = in_ns(load.median);
  result.latency_p99_ns = in_ns(load.p99);
  return result;
}

}  // namespace dladvisor::benchmark_log
