// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/transfer_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestLine = 1024;
constexpr int kGroups = 2;  // out of place and in place
constexpr double kGigabyte = 1e9, kMicrosecond = 1e3;

// That take from NCCL what it would choose by itself. Names of interfaces and of hosts are none of them.
constexpr auto kLimits = std::to_array<std::string_view>(
    {"NCCL_TOPO_FILE", "NCCL_GRAPH_FILE", "NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_P2P_DIRECT_DISABLE",
     "NCCL_SHM_DISABLE", "NCCL_NVLS_ENABLE", "NCCL_IB_DISABLE", "NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ",
     "NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_ALGO", "NCCL_PROTO", "NCCL_BUFFSIZE", "NCCL_NTHREADS",
     "NCCL_CUMEM_ENABLE", "NCCL_NET"});
// The slowest first.
constexpr auto kWays = std::to_array<std::string_view>({"NET/Socket", "NET/IB", "NET", "SHM", "P2P"});

}  // namespace

void TransferLinesReader::Begin() {
  Open& open = tests_.emplace_back();
  open.test.collective = collective_;
}

void TransferLinesReader::TakeDevice(std::string_view line) {
  // "#  Rank  0 Group  0 Pid  64904 on       mew0 device  0 [0000:17:00] NVIDIA A100 80GB PCIe"
  static const RE2 form(
      R"(\bRank +\d+ +(?:Group +\d+ +)?Pid +\d+ on +(\S+) +device +\d+ +\[[^\]]*\] +(\S.*?)\s*$)");
  std::string host, gpu;
  if (!RE2::PartialMatch(line, form, &host, &gpu)) return;
  if (!has_devices_) Begin();
  has_devices_ = true;
  Open& open = tests_.back();
  ++open.test.gpus;
  open.hosts.insert(host);
  open.gpus.insert(gpu);
}

void TransferLinesReader::TakeDebug(std::string_view line) {
  static const RE2 set(R"((NCCL_[A-Z0-9_]+) set by (?:environment|user|config file)[^ ]* to (\S{1,120}))"),
      channels(R"(\b(\d{1,3}) coll channels)"), way(R"(\] via (P2P|SHM|NET/\w+))");
  std::string name, value;
  int64_t count = 0;
  if (line.find(" set by ") != std::string_view::npos && RE2::PartialMatch(line, set, &name, &value)) {
    while (value.ends_with('.')) value.pop_back();
    if (std::ranges::find(kLimits, name) != kLimits.end()) settings_[name] = value;
  } else if (line.find(" via ") != std::string_view::npos && RE2::PartialMatch(line, way, &name)) {
    ways_.insert(name);
  } else if (line.find("coll channels") != std::string_view::npos &&
             RE2::PartialMatch(line, channels, &count)) {
    channels_ = count;
  }
}

bool TransferLinesReader::BeginsRow(std::string_view line) {
  // "    8388608       2097152     float     sum      -1    83.33  100.66  100.66      0 ...", older ones
  // without a root, behind a rank that mpirun or NCCL_DEBUG puts before it.
  static const RE2 row(
      R"((?:^|[\s\]:])(\d{1,15})\s+(\d{1,15})\s+(?:u?int\d{1,2}|float|half|double|bfloat16|f8e\w{1,6}|fp8_?\w{1,6})\s+(?:sum|prod|max|min|avg|mulsum|none|all)\b(.*)$)");
  re2::StringPiece rest;
  double bytes = 0;
  int64_t count = 0;
  if (!RE2::PartialMatch(line, row, &bytes, &count, &rest)) return false;
  if (tests_.empty() || (!has_devices_ && tests_.back().test.sizes > 0 && bytes < tests_.back().bytes))
    Begin();
  has_devices_ = false;
  Open& open = tests_.back();
  open.bytes = bytes;
  open.values = kGroups;
  open.bus_bytes_per_s = 0;
  std::string_view values(rest.data(), rest.size());
  const size_t root = values.find_first_not_of(' ');
  static const RE2 is_root(
      R"(^\s+-?\d{1,4}(?:\s+\d[\d.]*(?:e\+\d+)?\s+\d+\.\d+\s+\d+\.\d+|\D*$|[^\s\d.]|\[))");
  if (root != std::string_view::npos && RE2::PartialMatch(rest, is_root))
    values.remove_prefix(std::min(values.find_first_not_of("-0123456789", root), values.size()));
  TakeValues(values);
  return true;
}

void TransferLinesReader::TakeValues(std::string_view values) {
  // Time, bandwidth of the algorithm and of the bus, and how many values are wrong.
  static const RE2 group(
      R"(^\D{0,8}?(?:\[\d+\])?\s*(\d+(?:\.\d+)?(?:e\+\d+)?)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d\S{0,15}|N/A|-))");
  static const RE2 count(R"((\d{1,12}))");
  re2::StringPiece rest(values.data(), values.size());
  double us = 0, of_algorithm = 0, of_bus = 0;
  std::string wrong;
  while (tests_.back().values > 0 && RE2::Consume(&rest, group, &us, &of_algorithm, &of_bus, &wrong)) {
    Open& open = tests_.back();
    TransferTest& test = open.test;
    const bool first = open.values == kGroups;
    --open.values;
    // Of old versions it is how far values are off; a word of NCCL may stand against it.
    const bool whole = rest.empty() || rest[0] == ' ' || rest[0] == '\r';
    if (int64_t values_off = 0; counts_wrong_ && whole && RE2::FullMatch(wrong, count, &values_off))
      test.wrong_values += values_off;
    if (first) {
      if (test.sizes == 0 || open.bytes < test.least_bytes) {
        test.least_bytes = open.bytes;
        test.least_ns = us * kMicrosecond;
      }
      ++test.sizes;
    }
    open.bus_bytes_per_s = std::max(open.bus_bytes_per_s, of_bus * kGigabyte);
    if (open.bytes >= test.most_bytes) {
      test.most_bytes = open.bytes;
      test.bus_bytes_per_s = open.bus_bytes_per_s;
    }
  }
}

void TransferLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestLine) return;
  static const RE2 starts(
      R"(Collective test starting: (\w+)|(?:^|[/\s])((?:all_reduce|all_gather|alltoall\w?|broadcast|reduce|reduce_scatter|sendrecv|gather|scatter|hypercube)_perf)\b)");
  std::string named, called;
  const auto has = [&](std::string_view words) { return line.find(words) != std::string_view::npos; };
  if (has("_perf") && !has("concluded") && RE2::PartialMatch(line, starts, &named, &called)) {
    collective_ = named.empty() ? called : named;
    has_devices_ = false;
  }
  if (has(" device ") && has("Rank")) TakeDevice(line);
  if (has("NCCL INFO")) TakeDebug(line);
  has_table_ = has_table_ || has("busbw");
  if (has("busbw")) counts_wrong_ = has("#wrong");
  if (!has_table_ || BeginsRow(line)) return;
  if (!tests_.empty() && tests_.back().values > 0 && tests_.back().bytes > 0) TakeValues(line);
}

TransferTest TransferLinesReader::Closed(const Open& open) const {
  TransferTest test = open.test;
  test.hosts = static_cast<int64_t>(open.hosts.size());
  if (open.gpus.size() == 1) test.gpu = *open.gpus.begin();
  test.channels = channels_;
  for (const std::string_view way : kWays)
    if (test.over.empty() && ways_.contains(way)) test.over = way;
  for (const auto& [name, value] : settings_)
    test.settings.append(test.settings.empty() ? "" : ", ").append(name).append("=").append(value);
  return test;
}

std::vector<TransferTest> TransferLinesReader::Finish() const {
  std::vector<TransferTest> tests;
  for (const Open& open : tests_)
    if (open.test.sizes > 0) tests.push_back(Closed(open));
  return tests;
}

}  // namespace dladvisor::benchmark_log
