// SPDX-License-Identifier: Apache-2.0
#include "src/importers/summary_table/line_prefix.h"

#include <re2/re2.h>

#include <algorithm>

#include "src/importers/summary_table/table_header.h"

namespace dladvisor::summary_table {
namespace {

constexpr size_t kLongestPrefix = 160;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether the texts are the same but for the values of digits.
bool AreAlike(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return x == y || (IsDigit(x) && IsDigit(y)); });
}

// As long as what launchers and loggers print goes on.
size_t LengthOfPrefix(std::string_view line) {
  static const RE2 part(
      R"(\x1b\[[\d;]{0,12}m ?|\((?:\w{1,40}(?: pid=\d{1,9}(?:, ip=[\d.]{7,15})?)?|[\w.-]{1,40})\) ?|\[?(?:rank|default|worker|node)[ _-]?\d{1,5}\]?[:|] ?|\[\d{1,5}(?:,\d{1,5})?\](?:<std(?:out|err)>)?: ?|\d{1,5}: |[#>] |\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?\]?,? ?(?:- )?|\d\d:\d\d:\d\d(?:[.,]\d{1,9})? ?|\[?(?:DEBUG|INFO|WARNING|ERROR)\]?(?::[\w.]{0,60}:)? ?(?:- |: |\| )?|[\w.]{1,60} - |[\w.-]{1,60}: |\| )");
  re2::StringPiece rest(line.data(), std::min(line.size(), kLongestPrefix));
  while (RE2::Consume(&rest, part)) continue;
  return static_cast<size_t>(rest.data() - line.data());
}

}  // namespace

std::string_view LinePrefix::Without(std::string_view line) {
  if (!prefix_.empty() && line.size() >= prefix_.size()) {
    const std::string_view start = line.substr(0, prefix_.size());
    if (start == prefix_ || (dated_ && AreAlike(start, prefix_))) return line.substr(prefix_.size());
    if (AreAlike(start, prefix_)) return {};
  }
  if (line.find("Name") == std::string_view::npos && line.find("Time") == std::string_view::npos) return line;
  const size_t length = LengthOfPrefix(line);
  if (length == 0 || !HeaderOf(line.substr(length), {}, {})) return line;
  static const RE2 clock(R"(\d\d:\d\d:\d\d)");
  prefix_.assign(line.substr(0, length));
  dated_ = RE2::PartialMatch(prefix_, clock);
  return line.substr(length);
}

}  // namespace dladvisor::summary_table
