// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/http_load_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "src/importers/benchmark_log/csv_cells.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestOfLoadReport = 400, kMostReports = 1000;
constexpr double kOfMs = 1e6, kOfS = 1e9;

using Field = std::optional<double> RequestBenchmark::*;

// "412.33ms", "1.21s", "1m2.5s", "31.1µs".
std::optional<double> NsOfDuration(std::string_view text) {
  static const RE2 part(R"((\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s|m|h))");
  re2::StringPiece rest(text.data(), text.size());
  double sum = 0, number = 0;
  std::string unit;
  bool any = false;
  while (RE2::Consume(&rest, part, &number, &unit)) {
    sum += number * (unit == "ns"   ? 1
                     : unit == "ms" ? kOfMs
                     : unit == "s"  ? kOfS
                     : unit == "m"  ? 60 * kOfS
                     : unit == "h"  ? 3600 * kOfS
                                    : 1e3);
    any = true;
  }
  return any && rest.empty() ? std::optional(sum) : std::nullopt;
}

int64_t CountOf(const std::string& digits) {
  return static_cast<int64_t>(std::min(std::strtod(digits.c_str(), nullptr), 1e15));
}

bool Has(std::string_view line, std::string_view words) { return line.find(words) != line.npos; }

}  // namespace

void HttpLoadLinesReader::Begin(Tool tool) {
  static constexpr std::array kNames =
      std::to_array<std::string_view>({"", "wrk", "hey", "ApacheBench", "k6", "Locust", "Vegeta", "Locust"});
  tool_ = tool;
  reports_.emplace_back().program = kNames[static_cast<size_t>(tool)];
}

bool HttpLoadLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestOfLoadReport || reports_.size() >= kMostReports) return false;
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  static const RE2 wrk(R"(^Running [\dhms.]+ test @ \S+$)"),
      vegeta(R"(^Requests\s+\[total, rate(?:, throughput)?\]\s)"), k6(R"(^\s+http_req_[a-z_]+\.*:)"),
      locust(R"(^Type\s+Name\s+# reqs\s+# fails\s*\|\s+Avg\s+Min\s+Max\s+Med(?:ian)?\s*\|\s+req/s\s.*)");
  const bool after_summary = std::exchange(summary_, line == "Summary:");
  if (RE2::PartialMatch(line, wrk))
    Begin(Tool::kWrk);
  else if (after_summary && line.starts_with("  Total:"))
    Begin(Tool::kHey);
  else if (line.starts_with("This is ApacheBench") ||
           (tool_ != Tool::kApache && line.starts_with("Concurrency Level: ")))
    Begin(Tool::kApache);
  else if (tool_ != Tool::kK6 && Has(line, "http_req_") && RE2::PartialMatch(line, k6))
    Begin(Tool::kK6);
  else if (line.starts_with("Type,Name,Request Count,Failure Count,") ||
           line.starts_with("Timestamp,User Count,Type,Name,Requests/s,")) {
    Begin(Tool::kLocust);
    columns_ = CsvCells(line);
    kinds_.clear();
    since_ = 0;
    return true;
  } else if (line.starts_with("Type ") && RE2::FullMatch(line, locust)) {
    // It prints the table again and again.
    if (tool_ != Tool::kLocustTable) Begin(Tool::kLocustTable);
    kinds_.clear();
    return true;
  } else if (RE2::PartialMatch(line, vegeta))
    Begin(Tool::kVegeta);
  switch (tool_) {
    case Tool::kWrk:
      return OfWrk(line);
    case Tool::kHey:
      return OfHey(line);
    case Tool::kApache:
      return OfApache(line);
    case Tool::kK6:
      return OfK6(line);
    case Tool::kLocust:
      return OfLocust(line);
    case Tool::kLocustTable:
      return OfLocustTable(line);
    case Tool::kVegeta:
      return OfVegeta(line);
    case Tool::kNone:
      return false;
  }
  return false;
}

bool HttpLoadLinesReader::OfWrk(std::string_view line) {
  static const RE2 open(R"(^\s+\d+ threads? and (\d{1,9}) connections?$)"),
      latency(R"(^\s+Latency\s+(\S+)\s+\S+\s+\S+\s+\S+%$)"), percentile(R"(^\s+(50|99)(?:\.0+)?%\s+(\S+)$)"),
      done(R"(^\s+(\d{1,15}) requests in (\S+), \S+ read$)"),
      errors(R"(^\s+Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$)"),
      refused(R"(^\s+Non-2xx or 3xx responses: (\d+)$)"), rate(R"(^Requests/sec: +([\d.]+)$)");
  RequestBenchmark& report = reports_.back();
  std::string first, second;
  int64_t failed[4] = {};
  if (RE2::FullMatch(line, open, &first)) {
    report.limit = std::strtod(first.c_str(), nullptr);
  } else if (RE2::FullMatch(line, latency, &first)) {
    report.latency_mean_ns = NsOfDuration(first);
  } else if (RE2::FullMatch(line, percentile, &first, &second)) {
    (first == "50" ? report.latency_median_ns : report.latency_p99_ns) = NsOfDuration(second);
  } else if (RE2::FullMatch(line, done, &first, &second)) {
    report.requests = CountOf(first);
    report.duration_ns = NsOfDuration(second);
  } else if (RE2::FullMatch(line, errors, &failed[0], &failed[1], &failed[2], &failed[3])) {
    report.failed = report.failed.value_or(0) + failed[0] + failed[1] + failed[2] + failed[3];
  } else if (RE2::FullMatch(line, refused, &first)) {
    // It counts them among its requests.
    report.failed = report.failed.value_or(0) + CountOf(first);
    report.requests = std::max<int64_t>(0, report.requests - CountOf(first));
  } else if (RE2::FullMatch(line, rate, &first)) {
    report.answered_per_s = std::strtod(first.c_str(), nullptr);
  } else {
    return line.starts_with("Running ") || Has(line, "Thread Stats") || Has(line, "Req/Sec") ||
           line.starts_with("Transfer/sec");
  }
  return true;
}

bool HttpLoadLinesReader::OfHey(std::string_view line) {
  static const RE2 named(
      R"(^\s+(Total|Average|Requests/sec|Slowest|Fastest|Total data|Size/request):\s+([\d.]+)(?: secs?| bytes)?$)"),
      percentile(R"(^\s+(\d\d)%+ in ([\d.]+) secs$)"), status(R"(^\s+\[(\d{3})\]\s+(\d{1,15}) responses$)"),
      error(R"(^\s+\[(\d{1,15})\]\s+\S.*$)"), bin(R"(^\s+[\d.]+ \[\d+\]\s*\|.*$)"),
      details(R"(^\s+[A-Za-z+ ]+:\s+[\d.]+ secs, [\d.]+ secs, [\d.]+ secs$)");
  RequestBenchmark& report = reports_.back();
  std::string first, second;
  if (RE2::FullMatch(line, named, &first, &second)) {
    const double number = std::strtod(second.c_str(), nullptr);
    if (first == "Total") report.duration_ns = number * kOfS;
    if (first == "Average") report.latency_mean_ns = number * kOfS;
    if (first == "Requests/sec") report.answered_per_s = number;
  } else if (RE2::FullMatch(line, percentile, &first, &second)) {
    const double ns = std::strtod(second.c_str(), nullptr) * kOfS;
    if (first == "50") report.latency_median_ns = ns;
    if (first == "99") report.latency_p99_ns = ns;
  } else if (RE2::FullMatch(line, status, &first, &second)) {
    if (first[0] < '4')
      report.requests += CountOf(second);
    else
      report.failed = report.failed.value_or(0) + CountOf(second);
  } else if (RE2::FullMatch(line, error, &first)) {
    report.failed = report.failed.value_or(0) + CountOf(first);
  } else {
    return RE2::FullMatch(line, bin) || RE2::FullMatch(line, details) || line.ends_with(" distribution:") ||
           line.starts_with("Response time histogram") || line.starts_with("Details (average");
  }
  return true;
}

bool HttpLoadLinesReader::OfApache(std::string_view line) {
  static const RE2 named(
      R"(^(Concurrency Level|Time taken for tests|Complete requests|Failed requests|Non-2xx responses|Requests per second|Time per request): +([\d.]+)(?: (?:seconds|\[#/sec\] \(mean\)|\[ms\] \(mean\)))?$)"),
      percentile(R"(^\s+(50|99)%\s+(\d+)$)");
  RequestBenchmark& report = reports_.back();
  std::string first, second;
  if (RE2::FullMatch(line, named, &first, &second)) {
    const double number = std::strtod(second.c_str(), nullptr);
    if (first == "Concurrency Level") report.limit = number;
    if (first == "Time taken for tests") report.duration_ns = number * kOfS;
    if (first == "Complete requests") report.requests = CountOf(second);
    // Failed ones differ in their length, too, as answers of a model do: what it counts among its requests.
    if (first == "Non-2xx responses") {
      report.failed = CountOf(second);
      report.requests = std::max<int64_t>(0, report.requests - CountOf(second));
    }
    if (first == "Requests per second") report.answered_per_s = number;
    if (first == "Time per request") report.latency_mean_ns = number * kOfMs;
    return true;
  }
  if (!RE2::FullMatch(line, percentile, &first, &second)) return false;
  (first == "50" ? report.latency_median_ns : report.latency_p99_ns) =
      std::strtod(second.c_str(), nullptr) * kOfMs;
  return true;
}

bool HttpLoadLinesReader::OfK6(std::string_view line) {
  static const RE2 duration(R"(^\s+http_req_duration\.*: avg=(\S+)\s+min=\S+\s+med=(\S+)\s.*$)"),
      p99(R"(\bp\(99\)=(\S+))"),
      failed(R"(^\s+http_req_failed\.*: [\d.]+%\s+(?:✓ )?(\d+)(?: out of \d+|\s+✗ \d+)$)"),
      count(R"(^\s+http_reqs\.*: (\d{1,15})\s+([\d.]+)/s$)"), users(R"(^\s+vus_max\.*: (\d{1,9})\b.*$)"),
      users_now(R"(^\s+vus\.*: \d+\s+min=(\d+)\s+max=(\d+)$)"), other(R"(^\s+[a-z_]+\.{2,}:.*$)");
  RequestBenchmark& report = reports_.back();
  std::string first, second;
  if (RE2::FullMatch(line, duration, &first, &second)) {
    report.latency_mean_ns = NsOfDuration(first);
    report.latency_median_ns = NsOfDuration(second);
    if (RE2::PartialMatch(line, p99, &first)) report.latency_p99_ns = NsOfDuration(first);
  } else if (RE2::FullMatch(line, count, &first, &second)) {
    report.requests = std::max<int64_t>(0, CountOf(first) - report.failed.value_or(0));
    report.answered_per_s = std::strtod(second.c_str(), nullptr);
  } else if (RE2::FullMatch(line, failed, &first)) {
    report.failed = CountOf(first);
  } else if (RE2::FullMatch(line, users_now, &first, &second)) {
    if (first == second) report.limit = std::strtod(first.c_str(), nullptr);
  } else {
    return RE2::FullMatch(line, users) || RE2::FullMatch(line, other);
  }
  return true;
}

bool HttpLoadLinesReader::OfLocust(std::string_view line) {
  const std::vector<std::string> cells = CsvCells(line);
  if (cells.size() != columns_.size()) return false;
  const bool history = columns_[0] == "Timestamp";
  if (cells[history ? 3 : 1] == "Aggregated") {
    TakeAll(cells);
    if (!history) NameWaits();
  } else if (!history) {
    TakeKind(cells);
  }
  return true;
}

void HttpLoadLinesReader::TakeAll(const std::vector<std::string>& cells) {
  RequestBenchmark& report = reports_.back();
  double time = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    // Of a history the columns of all until then.
    std::string_view column = columns_[i];
    if (column.starts_with("Total ")) column.remove_prefix(std::string_view("Total ").size());
    const double number = std::strtod(cells[i].c_str(), nullptr);
    if (column == "Timestamp") time = number;
    if (column == "User Count") report.limit = std::max(report.limit.value_or(0), number);
    if (column == "Request Count") report.requests = CountOf(cells[i]);
    if (column == "Failure Count") report.failed = CountOf(cells[i]);
    if (column == "Average Response Time") report.latency_mean_ns = number * kOfMs;
    if (column == "Median Response Time") report.latency_median_ns = number * kOfMs;
    if (column == "99%") report.latency_p99_ns = number * kOfMs;
    if (column == "Requests/s") report.answered_per_s = number;
  }
  // It counts those that failed among its requests.
  report.requests = std::max<int64_t>(0, report.requests - report.failed.value_or(0));
  if (time <= 0) return;
  if (since_ == 0 && report.limit.value_or(0) > 0) since_ = time;
  report.answered_per_s = time > since_ ? static_cast<double>(report.requests) / (time - since_) : 0;
}

void HttpLoadLinesReader::NameWaits() {
  RequestBenchmark& report = reports_.back();
  const auto waits = [](const RequestBenchmark::Kind& kind) {
    return static_cast<double>(kind.requests) * kind.mean_ns;
  };
  double all = 0;
  for (const RequestBenchmark::Kind& kind : kinds_) all += waits(kind);
  if (kinds_.size() < 2 || !(all > 0)) return;
  report.waits_most = *std::ranges::max_element(kinds_, {}, waits);
  report.waits_most->share = waits(*report.waits_most) / all;
}

// "POST     /api/chat         120     3(2.50%) |   812    95   4031    640 |    3.90        0.10"
bool HttpLoadLinesReader::OfLocustTable(std::string_view line) {
  static const RE2 row(
      R"(^([A-Z]*)\s+(\S.*?)\s+(\d{1,15})\s+(\d{1,15})\([\d.]+%\)\s*\|\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*\|\s+([\d.]+)\s+[\d.]+$)");
  std::string method, name, requests, failed;
  double mean = 0, least = 0, most = 0, median = 0, rate = 0;
  if (!RE2::FullMatch(line, row, &method, &name, &requests, &failed, &mean, &least, &most, &median, &rate))
    return line.starts_with("-----") && line.find('|') != std::string_view::npos;
  if (name != "Aggregated") {
    constexpr size_t kMostKinds = 1000;
    if (kinds_.size() < kMostKinds)
      kinds_.push_back(
          {method.empty() ? name : method + ' ' + name, CountOf(requests), 0, mean * kOfMs, most * kOfMs});
    return true;
  }
  RequestBenchmark& report = reports_.back();
  report.failed = CountOf(failed);
  report.requests = std::max<int64_t>(0, CountOf(requests) - *report.failed);
  report.latency_mean_ns = mean * kOfMs;
  report.latency_median_ns = median * kOfMs;
  report.answered_per_s = rate;
  NameWaits();
  return true;
}

// A row of Locust's: requests of one kind.
void HttpLoadLinesReader::TakeKind(const std::vector<std::string>& cells) {
  constexpr size_t kMostKinds = 1000;
  if (kinds_.size() >= kMostKinds) return;
  RequestBenchmark::Kind& kind = kinds_.emplace_back();
  kind.name = cells[0].empty() ? cells[1] : cells[0] + ' ' + cells[1];
  for (size_t i = 2; i < cells.size(); ++i) {
    const double number = std::strtod(cells[i].c_str(), nullptr);
    if (columns_[i] == "Request Count") kind.requests = CountOf(cells[i]);
    if (columns_[i] == "Average Response Time") kind.mean_ns = number * kOfMs;
    if (columns_[i] == "Max Response Time") kind.longest_ns = number * kOfMs;
  }
}

bool HttpLoadLinesReader::OfVegeta(std::string_view line) {
  static const RE2 requests(
      R"(^Requests\s+\[total, rate(?:, throughput)?\]\s+(\d{1,15}), ([\d.]+)(?:, ([\d.]+))?$)"),
      duration(R"(^Duration\s+\[[a-z, ]+\]\s+(\S+),.*$)"),
      latencies(R"(^Latencies\s+\[(?:min, )?mean, 50, (?:90, )?95, 99, max\]\s+(.*)$)"),
      success(R"(^Success\s+\[ratio\]\s+([\d.]+)%$)");
  RequestBenchmark& report = reports_.back();
  std::string first, second, third;
  if (RE2::FullMatch(line, requests, &first, &second, &third)) {
    report.requests = CountOf(first);
    report.request_rate = std::strtod(second.c_str(), nullptr);
    report.answered_per_s = std::strtod((third.empty() ? second : third).c_str(), nullptr);
  } else if (RE2::FullMatch(line, duration, &first)) {
    report.duration_ns = NsOfDuration(first);
  } else if (RE2::FullMatch(line, latencies, &first)) {
    std::vector<std::string> parts = CsvCells(first);
    for (std::string& part : parts) std::erase(part, ' ');
    const size_t at = Has(line, "[min,") ? 1 : 0;
    if (parts.size() < 5 + at) return true;
    report.latency_mean_ns = NsOfDuration(parts[at]);
    report.latency_median_ns = NsOfDuration(parts[at + 1]);
    report.latency_p99_ns = NsOfDuration(parts[parts.size() - 2]);
  } else if (RE2::FullMatch(line, success, &first)) {
    const double answered = std::strtod(first.c_str(), nullptr) / 100;
    const auto good = static_cast<int64_t>(std::round(answered * static_cast<double>(report.requests)));
    report.failed = report.requests - good;
    report.requests = good;
  } else {
    return line.starts_with("Bytes In ") || line.starts_with("Bytes Out ") ||
           line.starts_with("Status Codes ");
  }
  return true;
}

std::vector<RequestBenchmark> HttpLoadLinesReader::Finish() const {
  std::vector<RequestBenchmark> reports;
  for (const RequestBenchmark& report : reports_)
    if (report.answered_per_s.value_or(0) > 0 && report.latency_mean_ns.value_or(0) > 0)
      reports.push_back(report);
  return reports;
}

}  // namespace dladvisor::benchmark_log
