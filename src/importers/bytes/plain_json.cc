// SPDX-License-Identifier: Apache-2.0
#include "src/importers/bytes/plain_json.h"

#include <array>

namespace dladvisor {

std::string PlainJson(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>({"NaN", "Infinity", "-Infinity"});
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const size_t colon = text.find(": ");
    const size_t taken = colon == std::string_view::npos ? text.size() : colon + 2;
    plain.append(text.substr(0, taken));
    text.remove_prefix(taken);
    for (const std::string_view word : kWords) {
      const size_t end = word.size();
      if (!text.starts_with(word) ||
          (text.size() > end && std::string_view(",}] \r\n").find(text[end]) == std::string_view::npos))
        continue;
      plain.append("null");
      text.remove_prefix(end);
      break;
    }
  }
  return plain;
}

}  // namespace dladvisor
