// SPDX-License-Identifier: Apache-2.0
#include "src/importers/input/input.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"

namespace dladvisor {
namespace fs = std::filesystem;

Input::Input(const fs::path& path) : path_(path), bytes_(path) {
  constexpr std::string_view kSqlite = "SQLite format 3";
  if (!head().starts_with(kSqlite)) return;
  if (bytes_.IsCompressed())
    throw Error(name(), "a compressed SQLite database", "unpack it first: gunzip -k '" + name() + "'");
  if (path == "-" || !fs::is_regular_file(path))
    throw Error(name(), "holds a SQLite database, which can only be read from a file",
                "save it to a file first");
  database_.emplace(path);
}

bool Input::IsText() const {
  // Bars go back by \b. A file that was cut while a program wrote it has holes, of zeros, where lines begin.
  const std::string_view text = head();
  // Bars that several write to one file leave long ones elsewhere, too.
  constexpr size_t kHole = 16;
  const bool may_have_holes = text.find('\n') != std::string_view::npos;
  char before = '\n';
  size_t zeros = 0;
  return std::none_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) {
      ++zeros;
      return !may_have_holes;
    }
    const bool hole = before == '\n' || before == '\r' || c == '\r' || zeros >= kHole;
    if (std::exchange(zeros, 0) > 0 && !hole) return true;
    before = c;
    return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' && byte != '\b' &&
           byte != 0x1B;
  });
}

}  // namespace dladvisor
