// SPDX-License-Identifier: Apache-2.0
#include "src/importers/bytes/lines.h"

#include <algorithm>

namespace dladvisor {

std::optional<std::string_view> Lines::Next() {
  if (hole_) return PieceOf(rest_);
  size_t newline = buffer_.find('\n', at_);
  while (newline == std::string::npos && !end_ && buffer_.size() - at_ < kLongest) {
    buffer_.erase(0, at_);
    at_ = 0;
    const size_t had = buffer_.size();
    buffer_.resize(had + kLongest);
    const size_t got = source_.Read(buffer_.data() + had, kLongest);
    buffer_.resize(had + got);
    end_ = got < kLongest;
    newline = buffer_.find('\n', had);
  }
  if (at_ == buffer_.size()) return std::nullopt;
  cut_ = newline == std::string::npos && end_;
  const size_t stop = std::min({newline, buffer_.size(), at_ + kLongest});
  std::string_view line(buffer_.data() + at_, stop - at_);
  at_ = stop == newline ? stop + 1 : stop;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.find('\0') == std::string_view::npos ? line : PieceOf(line);
}

std::string_view Lines::PieceOf(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of('\0'), line.size()));
  const std::string_view piece = line.substr(0, line.find('\0'));
  line.remove_prefix(piece.size());
  line.remove_prefix(std::min(line.find_first_not_of('\0'), line.size()));
  rest_ = line;
  hole_ = !line.empty();
  return piece;
}

}  // namespace dladvisor
