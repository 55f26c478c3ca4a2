// SPDX-License-Identifier: Apache-2.0
// Parts of a line.
#pragma once

#include <re2/re2.h>

#include <string_view>

namespace dladvisor::nsight_compute {

inline re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

inline std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace dladvisor::nsight_compute
