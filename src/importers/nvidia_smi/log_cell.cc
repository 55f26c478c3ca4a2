// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/log_cell.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/base/trim.h"

namespace dladvisor::nvidia_smi {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// Times are kept in 64 bits of ns.
constexpr int kFirstYear = 1970, kLastYear = 2200;

std::optional<Ns> Moment(int year, int month, int day, int hour, int minute, double second) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < kFirstYear || year > kLastYear || month < 1 || day < 1 || !date.ok() || hour > 23 ||
      minute > 59 || !(second < 61))
    return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * Ns{60'000'000'000} + std::llround(second * 1e9);
}

// Numbers of seconds since 1970 begin in 2001; smaller ones count from the start of the log.
std::optional<Time> MomentOfNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= 0)) return std::nullopt;
  constexpr double kYear2001 = 1e9, kLastSecond = 7e9;
  for (const double per_second : {1.0, 1e3, 1e6, 1e9})
    if (number < kLastSecond * per_second)
      return Time{static_cast<Ns>(number * (1e9 / per_second)), number / per_second >= kYear2001};
  return std::nullopt;
}

}  // namespace

std::string_view TrimCell(std::string_view text) { return TrimAll(text, " \t\r\""); }

std::vector<std::string_view> SplitAtCommas(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const size_t comma = line.find(',');
    cells.push_back(TrimCell(line.substr(0, comma)));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> SplitCsv(std::string_view row) {
  std::vector<std::string_view> cells;
  while (true) {
    size_t comma = row.find(',');
    const std::string_view begin = row.substr(std::min(row.find_first_not_of(" \t"), row.size()));
    if (begin.starts_with('"'))
      if (const size_t close = row.find('"', row.find('"') + 1); close != std::string_view::npos)
        comma = row.find(',', close);
    const std::string_view cell = TrimCell(row.substr(0, comma));
    cells.push_back(TrimCell(cell.substr(0, cell.find('\n'))));
    if (comma == std::string_view::npos) return cells;
    row.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> SplitAtBlanks(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    words.push_back(word);
    line.remove_prefix(word.size());
  }
}

std::optional<Quantity> ParseQuantity(std::string_view text) {
  text = TrimCell(text);
  if (text == "Active") return Quantity{1, ""};
  if (text == "Not Active") return Quantity{0, ""};
  if (text.starts_with("0x")) {
    uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return Quantity{static_cast<double>(bits), ""};
  }
  Quantity quantity;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity.number);
  constexpr double kMost = 1e18;  // more is damage, in whatever unit
  if (error != std::errc() || !(std::abs(quantity.number) < kMost)) return std::nullopt;
  quantity.unit = TrimCell(text.substr(static_cast<size_t>(end - text.data())));
  if (!quantity.unit.empty() && !FactorOfUnit(quantity.unit)) return std::nullopt;
  return quantity;
}

bool IsAbsent(std::string_view text) {
  static const RE2 absent(
      R"((?i)|-|nan|none|null|\[?(n/?a|not supported|not available|unknown error|insufficient permissions|)"
      R"(gpu is lost|no permission|requested functionality has been deprecated)\]?|err!)");
  return RE2::FullMatch(TrimCell(text), absent);
}

std::optional<double> FactorOfUnit(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 24> kFactors = {{
      {"%", 0.01},
      {"percent", 0.01},
      {"pct", 0.01},
      {"perc", 0.01},
      {"b", 1},
      {"bytes", 1},
      {"kib", 1024.0},
      {"kb", 1024.0},
      {"mib", 1048576.0},
      {"mb", 1048576.0},
      {"mbytes", 1048576.0},
      {"gib", 1073741824.0},
      {"gb", 1073741824.0},
      {"w", 1},
      {"watt", 1},
      {"watts", 1},
      {"mw", 1e-3},
      {"c", 1},
      {"celsius", 1},
      {"degc", 1},
      {"hz", 1},
      {"mhz", 1e6},
      {"ghz", 1e9},
      {"bool", 1},
  }};
  const std::string lower = Lower(unit);
  for (const auto& [name, factor] : kFactors)
    if (name == lower) return factor;
  return std::nullopt;
}

std::optional<Time> ParseTime(std::string_view text) {
  text = TrimCell(text);
  static const RE2 date(
      R"((\d{4})[-/](\d{1,2})[-/](\d{1,2})[ T](\d{1,2}):(\d{2}):(\d{2}(?:\.\d{1,9})?) ?(Z|UTC|[-+]\d{2}:?\d{2})?)"),
      year_last(
          R"((\d{1,2})([-/.])(\d{1,2})[-/.](\d{4}),?[ T](\d{1,2}):(\d{2}):(\d{2}(?:\.\d{1,9})?)(?: ?([AP])M)?)"),
      words(R"([A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\d{4}))");
  int year = 0, month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
  std::string zone, month_name;
  if (RE2::FullMatch(text, date, &year, &month, &day, &hour, &minute, &second, &zone)) {
    std::optional<Ns> ns = Moment(year, month, day, hour, minute, second);
    if (!ns) return std::nullopt;
    if (zone.starts_with('+') || zone.starts_with('-')) {
      const int hours = std::stoi(zone.substr(1, 2)), minutes = std::stoi(zone.substr(zone.size() - 2));
      const Ns offset = (hours * 60 + minutes) * Ns{60'000'000'000};
      *ns += zone[0] == '+' ? -offset : offset;
    }
    return Time{*ns, !zone.empty()};
  }
  // Months come first (tegrastats, the United States), but days with dots (much of Europe) and where the
  // first number is no month.
  std::string separator, half;
  int first = 0, second_number = 0;
  if (RE2::FullMatch(text, year_last, &first, &separator, &second_number, &year, &hour, &minute, &second,
                     &half)) {
    const bool day_first = separator == "." || first > 12;
    if (!half.empty()) hour = hour % 12 + (half == "P" ? 12 : 0);
    const std::optional<Ns> ns = Moment(year, day_first ? second_number : first,
                                        day_first ? first : second_number, hour, minute, second);
    return ns ? std::optional(Time{*ns, false}) : std::nullopt;
  }
  if (RE2::FullMatch(text, words, &month_name, &day, &hour, &minute, &second, &year)) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const size_t at = kMonths.find(month_name);
    if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
    const std::optional<Ns> ns = Moment(year, static_cast<int>(at / 3) + 1, day, hour, minute, second);
    return ns ? std::optional(Time{*ns, false}) : std::nullopt;
  }
  return MomentOfNumber(text);
}

}  // namespace dladvisor::nvidia_smi
