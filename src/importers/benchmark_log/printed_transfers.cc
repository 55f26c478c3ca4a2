// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/printed_transfers.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <string>

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestPrint = 1024;
constexpr double kGiga = 1e9, kBits = 8, kNsOfMs = 1e6, kNsOfSecond = 1e9;

// "4.0GB" of decimal units, "32KiB" of binary ones; 0 for what is no size.
double Bytes(double number, std::string_view unit) {
  constexpr auto kPrefixes = std::to_array<char>({'K', 'M', 'G', 'T'});
  const double step = unit.find('i') == std::string_view::npos ? 1000 : 1024;
  double bytes = number;
  for (const char prefix : kPrefixes) {
    if (unit == "B" || unit.empty()) break;
    bytes *= step;
    if (unit.front() == prefix) return bytes;
  }
  return unit == "B" ? bytes : 0;
}

double MiddleOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double OfUnit(std::string_view unit) { return unit == "Gbps" ? kGiga / kBits : kGiga; }

}  // namespace

bool PrintedTransfersReader::TakeHead(std::string_view line) {
  static const RE2 averaged(
      R"(average bandwidth of (\w+) (?:with a (\d+(?:\.\d+)?) ?([KMGT]i?B) payload|over (\d{1,7}) ranks)(?:.*\b(\d{1,7}) ranks\))?)"),
      performance(R"(Performance of (\w+) on (\d{1,7}) devices)"), columns(R"(BusBW \((GBps|Gbps)\))"),
      device(R"(Device info: .*\bname='([^']{1,80})')");
  std::string name, unit, over, ranks;
  double number = 0;
  if (line.find("average bandwidth of") != std::string_view::npos) {
    std::string payload;
    if (!RE2::PartialMatch(line, averaged, &name, &payload, &unit, &over, &ranks)) return false;
    Table& table = tables_.emplace_back();
    table.collective = name;
    const std::string& counted = over.empty() ? ranks : over;
    if (!counted.empty()) table.gpus = std::stoll(counted);
    payload_.reset();
    if (!payload.empty() && RE2::FullMatch(payload, R"((\d{1,9}(?:\.\d{1,9})?))", &number))
      payload_ = Bytes(number, unit);
    unit_ = kGiga;
    return true;
  }
  if (line.find("Performance of") != std::string_view::npos) {
    int64_t gpus = 0;
    if (!RE2::PartialMatch(line, performance, &name, &gpus)) return false;
    Table& table = tables_.emplace_back();
    table.collective = name;
    table.gpus = gpus;
    payload_.reset();
    unit_ = 0;
    return true;
  }
  if (!tables_.empty() && line.find("BusBW") != std::string_view::npos &&
      RE2::PartialMatch(line, columns, &unit)) {
    unit_ = OfUnit(unit);
    return true;
  }
  return line.find("Device info") != std::string_view::npos && RE2::PartialMatch(line, device, &gpu_);
}

void PrintedTransfersReader::TakeRow(std::string_view line) {
  // "| 32KiB |   0.92GBps |   0.53GBps |"; "31.67 GB   8501054668x4   3176.620 ms   171.272   149.863"
  static const RE2 cells(
      R"(\|\s*(\d{1,9}(?:\.\d{1,9})?) ?([KMGT]?i?B)\s*\|\s*(\d{1,9}(?:\.\d{1,9})?)GBps\s*\|\s*(\d{1,9}(?:\.\d{1,9})?)GBps\s*\|)"),
      counted(
          R"(\b(\d{1,15})x(\d{1,2})\s+(\d{1,12}(?:\.\d{1,9})?) ?(ms|us|s)?\s+\d{1,9}(?:\.\d{1,9})?\s+(\d{1,9}(?:\.\d{1,9})?)\s*$)"),
      alone(R"(\bbusbw:\s+(\d{1,9}(?:\.\d{1,9})?) GBps)");
  Table& table = tables_.back();
  double number = 0, bus = 0, algorithm = 0, time = 0, elements = 0, each = 0;
  std::string unit;
  if (payload_) {
    if (!RE2::PartialMatch(line, alone, &bus)) return;
    table.rows.push_back({.bytes = *payload_, .bus_bytes_per_s = bus * kGiga, .ns = {}});
    payload_.reset();
    unit_ = 0;
  } else if (RE2::PartialMatch(line, cells, &number, &unit, &bus, &algorithm)) {
    Row row{.bytes = Bytes(number, unit), .bus_bytes_per_s = bus * kGiga, .ns = {}};
    if (algorithm > 0) row.ns = row.bytes / (algorithm * kGiga) * kNsOfSecond;
    table.rows.push_back(row);
  } else if (RE2::PartialMatch(line, counted, &elements, &each, &time, &unit, &bus)) {
    Row row{.bytes = elements * each, .bus_bytes_per_s = bus * unit_, .ns = {}};
    if (unit == "ms") row.ns = time * kNsOfMs;
    table.rows.push_back(row);
  }
}

void PrintedTransfersReader::TakeTrial(std::string_view line) {
  static const RE2 size(R"(data size: (\d{1,9}(?:\.\d{1,9})?) ?([KMGT]B)\s*$)"),
      rank(R"(^\s*((?:[\w.-]{1,80}:)?\d{1,6}):\s*$)"),
      bus(R"(^\s*busbw: +(\d{1,9}(?:\.\d{1,9})?) +Gbps\s*$)");
  double number = 0;
  std::string name;
  if (line.ends_with(':') || line.ends_with(": ")) {
    if (RE2::FullMatch(line, rank, &name)) ranks_.insert(name);
  } else if (line.find("data size") != std::string_view::npos) {
    if (RE2::PartialMatch(line, size, &number, &name)) payload_ = Bytes(number, name);
  } else if (line.find("busbw:") != std::string_view::npos && RE2::FullMatch(line, bus, &number)) {
    trials_.push_back(number * kGiga / kBits);
  }
}

void PrintedTransfersReader::Line(std::string_view line) {
  if (line.size() > kLongestPrint) return;
  if (TakeHead(line)) return;
  if (tables_.empty())
    TakeTrial(line);
  else if (unit_ > 0)
    TakeRow(line);
}

TransferTest PrintedTransfersReader::Closed(const Table& table) {
  const auto [least, most] = std::ranges::minmax(table.rows, {}, &Row::bytes);
  TransferTest test;
  test.collective = table.collective;
  test.gpus = table.gpus;
  test.sizes = static_cast<int64_t>(table.rows.size());
  test.least_bytes = least.bytes;
  test.least_ns = least.ns;
  test.most_bytes = most.bytes;
  test.bus_bytes_per_s = most.bus_bytes_per_s;
  return test;
}

std::vector<TransferTest> PrintedTransfersReader::Finish() const {
  std::vector<TransferTest> tests;
  for (Table table : tables_) {
    std::erase_if(table.rows, [](const Row& row) { return row.bytes <= 0; });
    if (!table.rows.empty()) tests.emplace_back(Closed(table)).gpu = gpu_;
  }
  if (tables_.empty() && !trials_.empty() && payload_.value_or(0) > 0) {
    Table table{.collective = "all_reduce", .gpus = static_cast<int64_t>(ranks_.size()), .rows = {}};
    table.rows.push_back({.bytes = *payload_, .bus_bytes_per_s = MiddleOf(trials_), .ns = {}});
    tests.push_back(Closed(table));
  }
  return tests;
}

}  // namespace dladvisor::benchmark_log
