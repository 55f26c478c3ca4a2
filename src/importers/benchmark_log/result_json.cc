// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_json.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/trim.h"
#include "src/importers/benchmark_log/result_columns.h"
#include "src/importers/benchmark_log/result_names.h"
#include "src/importers/benchmark_log/result_settings.h"
#include "src/importers/benchmark_log/result_texts.h"
#include "src/importers/bytes/plain_json.h"

namespace dladvisor::benchmark_log {
namespace {

using ResultJson = nlohmann::ordered_json;
using ResultRecord = std::vector<std::pair<std::string, std::string>>;  // a cell for each name

constexpr size_t kMostResultRecords = 100'000, kDeepest = 6, kMostNames = 40;

bool IsScalar(const ResultJson& value) { return !value.is_object() && !value.is_array(); }

std::string CellOf(const ResultJson& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// A number beside its unit: "{"value": 32, "unit": "GT/s"}".
bool IsQuantity(const ResultJson& value) {
  return value.is_object() && value.size() == 2 && value.contains("value") && value.contains("unit");
}

// Members that are objects themselves give theirs, below their name: "stats.mean".
void FlattenResult(const ResultJson& object, const std::string& prefix, ResultRecord& record) {
  for (const auto& [name, value] : object.items()) {
    if (record.size() > kMostNames) return;
    // What a record was measured with: pytest-benchmark's "params", "extra_info".
    if (IsQuantity(value))
      record.emplace_back(prefix == " " ? name : prefix + name,
                          CellOf(value["value"]) + " " + CellOf(value["unit"]));
    else if (value.is_object() && prefix.empty())
      FlattenResult(value, name == "params" ? " " : name + ".", record);
    // hyperfine's "exit_codes", of each run of a command.
    if (name == "exit_codes" && value.is_array())
      record.emplace_back(
          "status", std::ranges::all_of(value, [](const auto& code) { return code == 0; }) ? "ok" : "failed");
    if (IsScalar(value)) record.emplace_back(prefix == " " ? name : prefix + name, CellOf(value));
  }
}

// The members of a record that have what is measured of several ways or states, alike: "cold" and "warm".
std::vector<std::string> AlikeMembers(const ResultJson& record) {
  const auto keys = [](const ResultJson& object) {
    std::set<std::string> names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
  };
  std::vector<std::string> alike;
  std::set<std::string> of_first;
  for (const auto& [name, value] : record.items()) {
    if (!value.is_object() || IsQuantity(value)) continue;
    if (alike.empty()) of_first = keys(value);
    if (of_first.size() < 2 || keys(value) != of_first) return {};
    alike.push_back(name);
  }
  return alike.size() > 1 && (AreStates(alike) || AreWays(alike)) ? alike : std::vector<std::string>();
}

// A record for each of these, or one of all.
void TakeRecord(const ResultJson& item, std::vector<ResultRecord>& records) {
  const std::vector<std::string> alike = AlikeMembers(item);
  if (alike.empty()) return FlattenResult(item, "", records.emplace_back());
  for (const std::string& name : alike) {
    ResultRecord& record = records.emplace_back();
    record.emplace_back("variant", name);
    for (const auto& [key, value] : item.items())
      if (IsScalar(value)) record.emplace_back(key, CellOf(value));
    FlattenResult(item[name], "", record);
  }
}

// A table of all records: names in the order in which they come first.
RawResults TableOfRecords(const std::vector<ResultRecord>& records) {
  RawResults table;
  for (const ResultRecord& record : records)
    for (const auto& [name, cell] : record)
      if (table.names.size() < kMostNames && std::ranges::find(table.names, name) == table.names.end())
        table.names.push_back(name);
  for (const ResultRecord& record : records) {
    auto& row = table.rows.emplace_back(table.names.size());
    for (const auto& [name, cell] : record) {
      const auto found = std::ranges::find(table.names, name);
      if (found != table.names.end()) row[static_cast<size_t>(found - table.names.begin())] = cell;
    }
  }
  return table;
}

// Google Benchmark writes the unit of its times beside them, and sums of repetitions as rows.
void GiveUnits(RawResults& table) {
  const auto column = [&](std::string_view name) {
    return static_cast<size_t>(std::ranges::find(table.names, name) - table.names.begin());
  };
  if (const size_t type = column("run_type"); type < table.names.size())
    std::erase_if(table.rows, [&](const auto& row) { return row[type] == "aggregate"; });
  const size_t unit = column("time_unit");
  if (unit == table.names.size()) return;
  for (const char* time : {"real_time", "cpu_time"})
    if (const size_t at = column(time); at < table.names.size())
      for (auto& row : table.rows) row[at] += " " + row[unit];
  EraseColumn(table, unit);
}

// Rows of one measure each: those of parts of a whole become one row of their sum, where every setting has
// all of them. Which are parts their names tell.
void SumParts(RawResults& table) {
  static const RE2 kind("(?i)type|part|phase|stage|component"), value("(?i)value|result|seconds|time|mean"),
      apart("(?i)transfer|copy|h2d|d2h|sync|pre-?process|post-?process");
  const auto column = [&](const RE2& names) {
    return static_cast<size_t>(
        std::ranges::find_if(table.names,
                             [&](const std::string& name) { return RE2::FullMatch(name, names); }) -
        table.names.begin());
  };
  const size_t by = column(kind), of = column(value), other = 3 - by - of;
  if (table.names.size() != 3 || by == 3 || of == 3 || other > 2) return;
  std::set<std::string> parts;
  for (const auto& row : table.rows) parts.insert(row[by]);
  if (!std::ranges::any_of(parts, [](const std::string& name) { return RE2::PartialMatch(name, apart); }))
    return;
  RawResults sums{"", {table.names[other], "latency of all parts"}, {}};
  std::vector<std::set<std::string>> seen;
  std::vector<double> totals;
  for (const auto& row : table.rows) {
    const auto found = std::ranges::find(sums.rows, row[other], [](const auto& r) { return r[0]; });
    const auto at = static_cast<size_t>(found - sums.rows.begin());
    if (found == sums.rows.end()) {
      sums.rows.push_back({row[other], ""});
      seen.emplace_back();
      totals.push_back(0);
    }
    if (!seen[at].insert(row[by]).second) return;
    totals[at] += std::strtod(row[of].c_str(), nullptr);
  }
  for (size_t i = 0; i < totals.size(); ++i) {
    if (seen[i] != parts) return;
    sums.rows[i][1] = fmt::format("{}", totals[i]);
  }
  table = std::move(sums);
}

std::optional<ResultTable> ResultsOfRecords(const std::vector<ResultRecord>& records) {
  RawResults table = TableOfRecords(records);
  SumParts(table);
  GiveUnits(table);
  KeepMeanOfPytest(table);
  KeepMeanOfHyperfine(table);
  SplitNames(table);
  const bool measures = std::ranges::any_of(table.names, [](const std::string& name) {
    return RoleOfName(name) == Role::kTime || RoleOfName(name) == Role::kRate;
  });
  const bool parts = std::ranges::any_of(table.names, [](const std::string& name) {
    return name.find('.') == std::string::npos && IsOfProfile(name);
  });
  return measures && !parts ? ResultsOf(table) : std::nullopt;
}

// Records below the values of their settings: "{"fp16": {"8": {...}}}".
void TakeNested(const ResultJson& object, ResultRecord& settings, std::vector<ResultRecord>& records) {
  const bool leaf = std::ranges::any_of(object, IsScalar);
  if (leaf) {
    ResultRecord record = settings;
    FlattenResult(object, "", record);
    if (records.size() < kMostResultRecords) records.push_back(std::move(record));
    return;
  }
  if (settings.size() >= kDeepest) return;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_object()) continue;
    // "batch_8" and "bs=8" name their setting.
    static const RE2 named(R"(([A-Za-z][A-Za-z_ ]*?)[ _=:-]?(\d+(?:\.\d+)?))");
    std::string name =
        fmt::format("variant{}", settings.empty() ? "" : fmt::format(" {}", settings.size() + 1));
    std::string cell = key;
    static const RE2 loads("(?i)b|bs|batch|batch_?size|seq|seq_?len|len|n|size|gpus?|workers?|threads?");
    std::string word, number;
    if (RE2::FullMatch(key, named, &word, &number) && RE2::FullMatch(word, loads)) {
      name = word;
      cell = number;
    }
    settings.emplace_back(name, cell);
    TakeNested(value, settings, records);
    settings.pop_back();
  }
}

// All tables in a document.
void FindTables(const ResultJson& value, size_t depth, std::vector<std::vector<ResultRecord>>& tables) {
  if (depth > kDeepest) return;
  if (value.is_array()) {
    std::vector<ResultRecord> records;
    for (const ResultJson& item : value) {
      if (records.size() >= kMostResultRecords) break;
      if (!item.is_object()) continue;
      TakeRecord(item, records);
    }
    if (records.size() > 1) tables.push_back(std::move(records));
    return;
  }
  if (!value.is_object()) return;
  const bool all_objects = value.size() > 1 && std::ranges::all_of(value, &ResultJson::is_object);
  if (all_objects) {
    std::vector<ResultRecord> records;
    ResultRecord settings;
    TakeNested(value, settings, records);
    if (records.size() > 1) tables.push_back(std::move(records));
  }
  for (const ResultJson& member : value) FindTables(member, depth + 1, tables);
}

ResultJson ParsedLines(std::string_view text) {
  ResultJson records = ResultJson::array();
  while (!text.empty() && records.size() < kMostResultRecords) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ResultJson record = ResultJson::parse(PlainJson(line), nullptr, false);
    if (!record.is_object()) return {};
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace

bool LooksLikeResultJson(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  for (const char* trace :
       {"\"traceEvents\"", "\"ph\"", "\"rocprofiler", "\"log_history\"", "\"deviceProperties\""})
    if (head.find(trace) != std::string_view::npos) return false;
  return !IsRecordLine(head.substr(first, head.find('\n', first) - first)) ||
         head.find_first_not_of(" \t\r\n", std::min(head.find('\n', first), head.size())) ==
             std::string_view::npos;
}

bool IsRecordLine(std::string_view line) {
  line = TrimAll(line, " \t\r");
  return line.starts_with('{') && line.ends_with('}') && line.size() > 2;
}

std::optional<ResultTable> ResultsOfJson(std::string_view text) {
  ResultJson document = ResultJson::parse(PlainJson(text), nullptr, false);
  if (document.is_discarded()) document = ParsedLines(text);
  std::vector<std::vector<ResultRecord>> tables;
  FindTables(document, 0, tables);
  std::optional<ResultTable> best;
  for (const std::vector<ResultRecord>& records : tables) {
    auto results = ResultsOfRecords(records);
    if (results && (!best || results->rows.size() > best->rows.size())) best = std::move(results);
  }
  return best;
}

}  // namespace dladvisor::benchmark_log
