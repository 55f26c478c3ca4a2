// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/compare_table.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "engine/base/trim.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestOfCompare = 2048, kMostTimes = 10'000;

std::vector<std::string> BetweenBars(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    const size_t end = line.find('|');
    cells.emplace_back(TrimAll(line.substr(0, end), " \t\r"));
    if (end == line.npos) return cells;
    line.remove_prefix(end + 1);
  }
}

}  // namespace

bool CompareTableReader::Line(std::string_view line) {
  if (line.size() > kLongestOfCompare) return false;
  static const RE2 head(R"(^\[-+ (.*?) -+\]\s*$)"), threads(R"(^(\d+) threads?: -+\s*$)"),
      unit(R"(^Times are in \w+ \((ns|us|ms|s)\)\.\s*$)");
  if (line.starts_with("[-") && RE2::FullMatch(line, head, &title_)) {
    open_ = true;
    ways_.clear();
    return true;
  }
  if (!open_) return false;
  if (RE2::FullMatch(line, threads, &threads_)) return true;
  if (line.starts_with("Times are in") && RE2::FullMatch(line, unit, &unit_)) {
    open_ = false;
    return true;
  }
  if (line.find('|') == line.npos) return false;
  std::vector<std::string> cells = BetweenBars(line);
  if (ways_.empty()) {
    if (cells.size() < 2 || !cells[0].empty()) return false;
    ways_.assign(cells.begin() + 1, cells.end());
    return true;
  }
  if (cells.size() != ways_.size() + 1) return false;
  for (size_t i = 0; i < ways_.size(); ++i)
    if (!cells[i + 1].empty() && rows_.size() < kMostTimes)
      rows_.push_back({title_, threads_, cells[0], ways_[i], cells[i + 1]});
  return true;
}

std::optional<RawResults> CompareTableReader::Finish() const {
  if (rows_.empty() || unit_.empty()) return std::nullopt;
  RawResults raw{"", {"task", "threads", "case", "variant", fmt::format("time ({})", unit_)}, rows_};
  for (size_t column : {2, 1, 0}) {
    std::set<std::string> values;
    for (const auto& row : rows_) values.insert(row[column]);
    if (values.size() > 1) continue;
    raw.names.erase(raw.names.begin() + static_cast<ptrdiff_t>(column));
    for (auto& row : raw.rows) row.erase(row.begin() + static_cast<ptrdiff_t>(column));
  }
  return raw;
}

}  // namespace dladvisor::benchmark_log
