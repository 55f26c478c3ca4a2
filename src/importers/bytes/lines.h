// SPDX-License-Identifier: Apache-2.0
// The lines of a text, one at a time.
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
  bool IsCut() const { return cut_; }

  static constexpr size_t kLongest = 64 * 1024;

 private:
  ByteSource& source_;
  std::string buffer_;
  size_t at_ = 0;
  bool end_ = false, cut_ = false;
};

}  // namespace dladvisor
