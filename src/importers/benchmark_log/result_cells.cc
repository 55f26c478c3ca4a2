// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_cells.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace dladvisor::benchmark_log {
namespace {

// "1,234,567.8" without its commas.
std::string WithoutThousands(std::string_view cell) {
  static const RE2 thousands(R"(^-?\d{1,3}(?:,\d{3})+(?:\D|$))");
  std::string text(cell);
  if (text.find(',') != std::string::npos && RE2::PartialMatch(text, thousands)) std::erase(text, ',');
  return text;
}

double UnitOfTime(std::string_view suffix) {
  constexpr auto kUnits = std::to_array<std::pair<std::string_view, double>>(
      {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"sec", 1}, {"min", 60}});
  const auto found = std::ranges::find(kUnits, suffix, &std::pair<std::string_view, double>::first);
  return found == kUnits.end() ? 0 : found->second;
}

double Multiple(std::string_view suffix) {
  constexpr double kThousand = 1e3, kMillion = 1e6;
  if (suffix == "k" || suffix == "K") return kThousand;
  return suffix == "M" ? kMillion : 1;
}

}  // namespace

std::optional<CellNumber> NumberOfCell(std::string_view cell) {
  while (!cell.empty() && std::string_view("*`~≈ ").find(cell.front()) != std::string_view::npos)
    cell.remove_prefix(1);
  while (!cell.empty() && std::string_view("*` ").find(cell.back()) != std::string_view::npos)
    cell.remove_suffix(1);
  const std::string text = WithoutThousands(cell);
  CellNumber number;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number.value);
  constexpr ptrdiff_t kLongestUnit = 12;
  if (error != std::errc() || !std::isfinite(number.value) || last - end > kLongestUnit) return std::nullopt;
  if (end != last && (*end == '-' || *end == ':' || *end == '/' || *end == '_' || *end == ','))
    return std::nullopt;  // a date, a clock, a name
  std::string_view suffix(end, static_cast<size_t>(last - end));
  while (suffix.starts_with(' ')) suffix.remove_prefix(1);
  number.unit = UnitOfTime(suffix.substr(0, suffix.find(' ')));
  number.value *= Multiple(suffix);
  return number;
}

std::vector<double> NumbersOfColumn(const std::vector<std::string>& cells) {
  std::vector<double> numbers;
  double unit = 0;  // of the first that names one
  for (const std::string& cell : cells) {
    const auto number = NumberOfCell(cell);
    if (number && unit == 0) unit = number->unit;
    const double scale = number && number->unit > 0 && unit > 0 ? number->unit / unit : 1;
    numbers.push_back(number ? number->value * scale : 0);
  }
  return numbers;
}

std::string UnitOfColumn(const std::vector<std::string>& cells) {
  static const RE2 unit(R"(\d ?(ns|us|µs|ms|s|sec|min)\b)");
  std::string word;
  for (const std::string& cell : cells)
    if (const auto number = NumberOfCell(cell); number && number->unit > 0) {
      RE2::PartialMatch(cell, unit, &word);
      return word;
    }
  return word;
}

bool SaysOutOfMemory(std::string_view cell) {
  static const RE2 memory(R"((?i)\boom|_oom\b|out.?of.?memory|memoryerror)");
  return RE2::PartialMatch(cell, memory);
}

bool SaysFailed(std::string_view cell) {
  static const RE2 failed(
      R"((?i)^\W*(?:fail\w*|err(?:or)?|time[ -]?out|crash\w*|nan|none|null|n/?a|inf|x|-+|—|)\W*$)");
  return SaysOutOfMemory(cell) || RE2::FullMatch(cell, failed);
}

}  // namespace dladvisor::benchmark_log
