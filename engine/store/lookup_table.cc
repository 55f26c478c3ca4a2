// SPDX-License-Identifier: Apache-2.0
#include "engine/store/lookup_table.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>

namespace dladvisor {
namespace {

constexpr std::string_view kBetween = "; ", kIs = " = ";

}  // namespace

std::optional<LookupTable> LookupTable::Parse(std::string_view text) {
  LookupTable table;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(kBetween));
    text.remove_prefix(std::min(text.size(), entry.size() + kBetween.size()));
    const size_t is = entry.find(kIs);
    if (is == std::string_view::npos) return std::nullopt;
    const std::string_view number = entry.substr(is + kIs.size());
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
    table.entries_.emplace_back(entry.substr(0, is), value);
  }
  if (table.entries_.empty()) return std::nullopt;
  return table;
}

std::string LookupTable::Add(const std::string& pattern, const Value& number) {
  const auto value = AsNumber(number);
  if (!value) return "must be numbers";
  if (pattern.empty()) return "must have a pattern";
  // What the text of the entry would be read as.
  const auto read = Parse(fmt::format("{}{}1", pattern, kIs));
  if (!read || read->entries_.size() != 1 || read->entries_[0].first != pattern ||
      pattern.ends_with(kBetween.front()))
    return fmt::format("may not hold '{}' or '{}' in a pattern", kBetween.front(), kIs);
  entries_.emplace_back(pattern, *value);
  return "";
}

std::string LookupTable::Text() const {
  std::string text;
  for (const auto& [pattern, number] : entries_)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : kBetween, pattern, kIs, number);
  return text;
}

std::string LookupTable::Formatted(Unit unit) const {
  std::string text;
  for (const auto& [pattern, number] : entries_)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : kBetween, pattern, kIs, FormatValue(number, unit));
  return text;
}

std::optional<double> LookupTable::Find(const std::string& name) const {
  for (const auto& [pattern, number] : entries_)
    if (sqlite3_strglob(pattern.c_str(), name.c_str()) == 0) return number;
  return std::nullopt;
}

}  // namespace dladvisor
