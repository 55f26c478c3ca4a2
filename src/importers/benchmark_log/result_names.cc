// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_names.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "src/importers/benchmark_log/result_commands.h"

namespace dladvisor::benchmark_log {
namespace {

size_t ColumnNamed(const RawResults& table, std::string_view name) {
  return static_cast<size_t>(std::ranges::find(table.names, name) - table.names.begin());
}

// Whether the least of a table's means and the greatest lie further apart than both scatter, as far as it
// says.
bool DifferBeyondSpread(const RawResults& table) {
  const size_t mean = ColumnNamed(table, "mean"), spread = ColumnNamed(table, "stddev");
  std::vector<std::pair<double, double>> results;
  static const RE2 both(R"(([\d.]+) ± ([\d.]+))");
  for (const auto& row : table.rows) {
    double value = 0, scatter = 0;
    if (mean < row.size() && spread < row.size()) {
      value = std::strtod(row[mean].c_str(), nullptr);
      scatter = std::strtod(row[spread].c_str(), nullptr);
    } else if (row.size() < 2 || !RE2::PartialMatch(row[1], both, &value, &scatter)) {
      return true;
    }
    results.emplace_back(value, scatter);
  }
  if (results.empty()) return true;
  const auto [least, most] = std::ranges::minmax(results);
  return most.first - least.first > least.second + most.second;
}

}  // namespace

void EraseColumn(RawResults& table, size_t column) {
  table.names.erase(table.names.begin() + static_cast<ptrdiff_t>(column));
  for (auto& row : table.rows) row.erase(row.begin() + static_cast<ptrdiff_t>(column));
}

void SplitNames(RawResults& table) {
  size_t at = ColumnNamed(table, "name");
  if (at == table.names.size()) at = ColumnNamed(table, "Benchmark");
  if (at == table.names.size()) return;
  static const RE2 part(R"([/\[]?([^/\[\]]+)\]?)");
  std::vector<std::vector<std::string>> parts;
  for (const auto& row : table.rows) {
    auto& of_row = parts.emplace_back();
    re2::StringPiece rest(row[at]);
    for (std::string text; RE2::Consume(&rest, part, &text);) of_row.push_back(text);
  }
  const size_t count = parts.empty() ? 0 : parts[0].size();
  constexpr size_t kMostParts = 6;
  if (count < 2 || count > kMostParts ||
      !std::ranges::all_of(parts, [&](const auto& p) { return p.size() == count; }))
    return;
  for (size_t k = 0; k < count; ++k) {
    // The first names what is measured, the others in which way.
    table.names.push_back(k == 0 ? "benchmark" : fmt::format("argument {}", k));
    for (size_t row = 0; row < parts.size(); ++row) table.rows[row].push_back(parts[row][k]);
  }
  EraseColumn(table, at);
  for (const char* again : {"run_name", "fullname", "param"})
    if (const size_t found = ColumnNamed(table, again); found < table.names.size()) EraseColumn(table, found);
}

bool KeepMeanOfHyperfine(RawResults& table) {
  const auto has = [&](const char* name) { return ColumnNamed(table, name) < table.names.size(); };
  static const RE2 mean(R"(Mean \[(m?s|min)\])");
  std::string unit;
  const bool differ = DifferBeyondSpread(table);
  size_t named = 0;
  if (has("command") && has("mean") && has("stddev") && has("user") && has("system")) {
    named = ColumnNamed(table, "command");
    table.names[ColumnNamed(table, "mean")] = "mean time (s)";
  } else if (has("Command") && has("Relative") && table.names.size() > 1 &&
             RE2::FullMatch(table.names[1], mean, &unit)) {
    named = ColumnNamed(table, "Command");
    table.names[1] = fmt::format("mean time ({})", unit);
  } else {
    return false;
  }
  std::vector<std::string> commands;
  for (const auto& row : table.rows) commands.push_back(row[named]);
  // What is no way to do the same is a case of its own.
  table.names[named] = differ && AreWaysToDoTheSame(commands) ? "variant" : "case";
  static const RE2 other(R"(stddev|median|user|system|min|max|memory_usage_byte|Min \[.*|Max \[.*|Relative)");
  for (size_t i = table.names.size(); i-- > 0;)
    if (RE2::FullMatch(table.names[i], other)) EraseColumn(table, i);
  table.compares = true;
  return true;
}

void KeepTimeOfNvbench(RawResults& table) {
  const auto has = [&](const char* name) { return ColumnNamed(table, name) < table.names.size(); };
  if (!has("Samples") || !has("CPU Time") || !has("GPU Time") || !has("Noise")) return;
  static const RE2 other("Samples|CPU Time|Noise|Elem/s|GlobalMem BW|BWUtil|Batch GPU|Batch|Device"),
      power(R"(2\^\d+ = (\d+))");
  for (size_t i = table.names.size(); i-- > 0;)
    if (RE2::FullMatch(table.names[i], other)) EraseColumn(table, i);
  for (auto& row : table.rows)
    for (std::string& cell : row)
      if (std::string number; RE2::FullMatch(cell, power, &number)) cell = number;
}

bool KeepMeanOfPytest(RawResults& table) {
  std::string unit;
  if (ColumnNamed(table, "stats.mean") < table.names.size() &&
      ColumnNamed(table, "stats.rounds") < table.names.size()) {
    table.names[ColumnNamed(table, "stats.mean")] = "mean time (s)";
  } else if (const size_t mean = ColumnNamed(table, "Mean");
             mean < table.names.size() &&
             RE2::FullMatch(table.names[0], R"(Name \(time in (\w+)\))", &unit)) {
    table.names[mean] = fmt::format("mean time ({})", unit);
    table.names[0] = "name";
  } else {
    return false;
  }
  static const RE2 other(
      R"(stats\..*|options\..*|Min|Max|StdDev|Median|IQR|Outliers|OPS.*|Rounds|Iterations|group|fullname|param)");
  for (size_t i = table.names.size(); i-- > 0;)
    if (RE2::FullMatch(table.names[i], other)) EraseColumn(table, i);
  table.compares = true;
  return true;
}

}  // namespace dladvisor::benchmark_log
