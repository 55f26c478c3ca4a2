// SPDX-License-Identifier: Apache-2.0
// Why SQL is refused or failed, in words for who wrote it: SQLite's messages with the nearest known word and
// a place.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace dladvisor {

class Catalog;

class SqlError : public std::runtime_error {
 public:
  SqlError(const std::string& message, int offset, std::string hint = {})
      : std::runtime_error(message), offset_(offset), hint_(std::move(hint)) {}
  int offset() const { return offset_; }             // byte offset in the statement, or -1 where unknown
  const std::string& hint() const { return hint_; }  // the next step where there is a special one, or ""

 private:
  int offset_;
  std::string hint_;
};

inline constexpr const char* kOnlySelect = "only SELECT over relations is allowed";

// Offset of `word` as a whole word in `sql`, or -1.
int FindWord(std::string_view sql, std::string_view word);

// An error of preparing `sql`, by SQLite's message; `offset` is -1 where SQLite has none.
SqlError ExplainSqlError(std::string_view sql, const std::string& message, int offset,
                         const Catalog& catalog);

}  // namespace dladvisor
