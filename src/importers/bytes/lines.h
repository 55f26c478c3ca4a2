// SPDX-License-Identifier: Apache-2.0
// The lines of a text, one at a time. A file that was cut or emptied while a program wrote it has holes, of
// zeros: they are left out, and end the line that stands before them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/importers/bytes/byte_source.h"

namespace dladvisor {

class Lines {
 public:
  explicit Lines(ByteSource& source) : source_(source) {}

  // The next line without its end (\n or \r\n); nothing at the end. Valid until the next call. Of a line
  // longer than kLongest the parts come as lines.
  std::optional<std::string_view> Next();

  // Whether the line that came last has no end: what wrote it was stopped.
  bool IsCut() const { return cut_ && !hole_; }

  static constexpr size_t kLongest = 64 * 1024;

 private:
  // Of a line with holes what stands before the next.
  std::string_view PieceOf(std::string_view line);

  ByteSource& source_;
  std::string buffer_;
  size_t at_ = 0;
  std::string_view rest_;  // of a line with holes, what comes behind the last one
  bool end_ = false, cut_ = false, hole_ = false;
};

}  // namespace dladvisor
