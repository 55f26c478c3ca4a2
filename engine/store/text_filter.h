// SPDX-License-Identifier: Apache-2.0
// What LIKE or REGEXP asks of the texts of a column, decided once for each different text: of kernels by name
// every GPU and rank has the same names, in an order in which each look at one misses the caches.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/relation.h"
#include "engine/store/sqlite_allocator.h"

namespace re2 {
class RE2;
}

namespace dladvisor {

class TextFilter {
 public:
  // As a plan has it: '%' for LIKE, '~' for REGEXP.
  static constexpr char kLike = '%', kRegexp = '~';

  // REQUIRES: the table outlives it.
  TextFilter(const Table& table, char sign, size_t column, std::string_view pattern);
  TextFilter(TextFilter&&) noexcept;
  TextFilter& operator=(TextFilter&&) noexcept;
  ~TextFilter();

  // Holds of every row that SQLite takes, which tests it again. Of others, too, where a pattern is none that
  // can be tested here, or has taken so long already that SQLite is to watch the time.
  bool Holds(size_t row) const;

 private:
  enum class Verdict : uint8_t { kOpen, kNo, kYes };
  bool Matches(std::string_view text) const;
  void WatchTime() const;

  const Table* table_;
  size_t column_;
  std::string part_;  // of LIKE
  std::unique_ptr<re2::RE2> pattern_;
  mutable std::vector<Verdict, SqliteAllocator<Verdict>> verdicts_;  // by what the table stores
  mutable bool is_on_ = false;
  mutable size_t tested_ = 0;
  mutable std::chrono::steady_clock::time_point begin_;
};

}  // namespace dladvisor
