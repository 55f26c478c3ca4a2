// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/perf_report.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/base/trim.h"
#include "src/importers/benchmark_log/csv_cells.h"
#include "src/importers/bytes/plain_json.h"

namespace dladvisor::benchmark_log {
namespace {

using Row = std::map<std::string, double, std::less<>>;
using Table = std::map<std::string, Row, std::less<>>;

constexpr size_t kLongestOfReport = 1024, kMostTables = 1000;
constexpr double kMostOfCount = 1e15;

// "Time to First Token (ms)" and "time_to_first_token" are one: "time to first token".
std::string PlainName(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, name.find('('))) {
    const bool blank = c == ' ' || c == '_' || c == '-';
    if (!blank || (!plain.empty() && plain.back() != ' '))
      plain += blank ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  while (plain.ends_with(' ')) plain.pop_back();
  return plain;
}

double NsOf(std::string_view unit) {
  if (unit == "s" || unit.starts_with("sec")) return 1e9;
  if (unit == "us" || unit.starts_with("micro")) return 1e3;
  if (unit == "ns" || unit.starts_with("nano")) return 1;
  return 1e6;
}

// Cells between bars of either kind.
std::vector<std::string> CellsBetweenBars(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  bool begun = false;
  for (size_t i = 0; i < line.size();) {
    const std::string_view rest = line.substr(i);
    const bool wide = rest.starts_with("│") || rest.starts_with("┃");
    if (wide || rest[0] == '|') {
      if (begun) {
        cells.emplace_back(Trim(cell));
      }
      begun = true;
      cell.clear();
      i += wide ? std::string_view("│").size() : 1;
      continue;
    }
    cell += line[i++];
  }
  return cells;
}

std::optional<double> Number(std::string cell) {
  std::erase(cell, ',');
  char* end = nullptr;
  const double number = std::strtod(cell.c_str(), &end);
  return end == cell.c_str() || *end != '\0' || !std::isfinite(number) || number < 0 ? std::nullopt
                                                                                     : std::optional(number);
}

std::optional<RequestBenchmark> MadeOf(const Table& table) {
  const auto value = [&](std::string_view row, std::string_view column) -> std::optional<double> {
    const auto found = table.find(row);
    if (found == table.end()) return std::nullopt;
    const auto at = found->second.find(column);
    return at == found->second.end() ? std::nullopt : std::optional(at->second);
  };
  RequestBenchmark result;
  result.first_mean_ns = value("time to first token", "avg");
  if (!result.first_mean_ns) return std::nullopt;
  result.first_median_ns = value("time to first token", "p50");
  result.first_p99_ns = value("time to first token", "p99");
  result.token_mean_ns = value("inter token latency", "avg");
  result.token_median_ns = value("inter token latency", "p50");
  if (const auto count = value("request count", "avg"); count && *count >= 1 && *count < kMostOfCount)
    result.requests = static_cast<int64_t>(*count);
  const double each = std::max<double>(1, static_cast<double>(result.requests));
  if (const auto tokens = value("input sequence length", "avg")) result.input_tokens = *tokens * each;
  if (const auto tokens = value("output sequence length", "avg")) result.output_tokens = *tokens * each;
  result.output_tokens_per_s = value("output token throughput", "avg");
  result.answered_per_s = value("request throughput", "avg");
  result.latency_mean_ns = value("request latency", "avg");
  result.latency_median_ns = value("request latency", "p50");
  result.latency_p99_ns = value("request latency", "p99");
  return result;
}

bool IsTime(std::string_view name) {
  return name == "time to first token" || name == "inter token latency" || name == "request latency";
}

}  // namespace

bool PerfReportReader::Line(std::string_view line) {
  if (line.size() > kLongestOfReport) return false;
  if (line.starts_with("Metric,") || csv_) return CsvLine(line);
  const bool bars = line.find("│") != line.npos || line.find("┃") != line.npos ||
                    (!columns_.empty() && line.find('|') != line.npos) ||
                    (line.find("Statistic") != line.npos && line.find('|') != line.npos);
  if (!bars) {
    // Of the table's frame: "├────┼", "╇━━━".
    const bool frame = line.find("─") != line.npos || line.find("━") != line.npos;
    if (!frame && line.find_first_not_of(" \t\r") != line.npos) columns_.clear();
    return false;
  }
  const std::vector<std::string> cells = CellsBetweenBars(line);
  const auto is = [&](std::string_view words) {
    return std::ranges::any_of(cells, [&](const std::string& cell) { return PlainName(cell) == words; });
  };
  if (cells.size() > 2 && (is("statistic") || is("metric")) && is("avg") && is("p99")) {
    columns_ = cells;
    if (tables_.size() < kMostTables) tables_.emplace_back();
    return true;
  }
  return TakeRow(cells);
}

// "Metric,avg,min,max,p99,p95,...", then "Metric,Value" for what has one value.
bool PerfReportReader::CsvLine(std::string_view line) {
  const std::vector<std::string> cells = CsvCells(line);
  if (cells[0] == "Metric") {
    const bool statistics =
        std::ranges::find(cells, "avg") != cells.end() && std::ranges::find(cells, "p99") != cells.end();
    const bool values = csv_ && cells.size() == 2 && cells[1] == "Value";
    if (!statistics && !values) return false;
    if (statistics && tables_.size() < kMostTables) tables_.emplace_back();
    csv_ = true;
    columns_ = cells;
    if (values) columns_[1] = "avg";
    return true;
  }
  return TakeRow(cells);
}

bool PerfReportReader::TakeRow(const std::vector<std::string>& cells) {
  if (columns_.empty() || cells.size() != columns_.size()) return false;
  static const RE2 unit_form(R"(\(([a-z]{1,12})\)\s*$)");
  const std::string name = PlainName(cells[0]);
  std::string unit;
  RE2::PartialMatch(cells[0], unit_form, &unit);
  for (size_t i = 1; i < cells.size(); ++i)
    if (const auto number = Number(cells[i]))
      tables_.back()[name][PlainName(columns_[i])] = IsTime(name) ? *number * NsOf(unit) : *number;
  return true;
}

std::vector<RequestBenchmark> PerfReportReader::Finish() const {
  std::vector<RequestBenchmark> benchmarks;
  for (const Table& table : tables_)
    if (const auto made = MadeOf(table)) benchmarks.push_back(*made);
  return benchmarks;
}

bool LooksLikePerfReport(std::string_view head) {
  return head.starts_with('{') && head.find("\"time_to_first_token\"") != head.npos &&
         head.find("\"request_throughput\"") != head.npos && head.find("\"traceEvents\"") == head.npos;
}

std::optional<RequestBenchmark> PerfReportOfJson(std::string_view text) {
  const auto object = nlohmann::json::parse(PlainJson(text), nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Table table;
  for (const auto& [key, statistics] : object.items()) {
    if (!statistics.is_object()) continue;
    const std::string name = PlainName(key);
    const auto unit = statistics.find("unit");
    const double scale =
        !IsTime(name) ? 1
                      : NsOf(unit != statistics.end() && unit->is_string() ? unit->get<std::string>() : "");
    for (const auto& [column, value] : statistics.items())
      if (value.is_number() && value.get<double>() >= 0) table[name][column] = value.get<double>() * scale;
  }
  return MadeOf(table);
}

}  // namespace dladvisor::benchmark_log
