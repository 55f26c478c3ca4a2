// SPDX-License-Identifier: Apache-2.0
#include "engine/store/text_match.h"

#include <algorithm>
#include <cstddef>

namespace dladvisor {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

}  // namespace

std::string_view PartAskedFor(std::string_view pattern) {
  if (pattern.size() < 3 || pattern.front() != '%' || pattern.back() != '%') return {};
  const std::string_view part = pattern.substr(1, pattern.size() - 2);
  const auto is_plain = [](char c) { return c > 0 && c != '%' && c != '_'; };
  return std::ranges::all_of(part, is_plain) ? part : std::string_view();
}

bool HasPart(std::string_view text, std::string_view part) {
  const char lower = Lower(part[0]),
             upper = lower >= 'a' && lower <= 'z' ? static_cast<char>(lower & ~0x20) : lower;
  for (size_t i = 0; i + part.size() <= text.size(); ++i)
    if ((text[i] == lower || text[i] == upper) &&
        std::equal(part.begin(), part.end(), text.begin() + static_cast<std::ptrdiff_t>(i),
                   [](char a, char b) { return Lower(a) == Lower(b); }))
      return true;
  return false;
}

}  // namespace dladvisor
