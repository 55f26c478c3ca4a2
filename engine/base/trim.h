// SPDX-License-Identifier: Apache-2.0
// Text without what stands around it, as blanks around cells and at ends of lines.
#pragma once

#include <cstddef>
#include <string_view>

namespace dladvisor {

inline std::string_view TrimAll(std::string_view text, std::string_view characters) {
  const size_t first = text.find_first_not_of(characters);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(characters) - first + 1);
}

inline std::string_view Trim(std::string_view text) { return TrimAll(text, " \t\r"); }

}  // namespace dladvisor
