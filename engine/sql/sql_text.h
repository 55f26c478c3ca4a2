// SPDX-License-Identifier: Apache-2.0
// SQL as text: its words, strings, comments and parameters, for what SQLite does not expose, such as which
// names an expression holds, and for statements with values in place of parameters.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sql/binding.h"

namespace dladvisor {

struct SqlToken {
  enum class Kind { kWord, kQuoted, kString, kNumber, kParameter, kComment, kSpace, kOther };
  Kind kind = Kind::kOther;  // an operator, parenthesis or comma
  size_t start = 0;
  std::string_view text;  // as written, with its quotes or colon
};

// Every byte of `sql` lies in one token. A string or comment that is not closed ends with the text.
std::vector<SqlToken> SqlTokens(std::string_view sql);

// What `sql` opens and does not close: a text, a name in quotes, a comment or a parenthesis; the first of
// them.
struct Unclosed {
  std::string what;  // "a text"
  size_t start = 0;
};
std::optional<Unclosed> FindUnclosed(std::string_view sql);

// A token as a parser takes it: names without quotes.
struct SqlWord {
  SqlToken::Kind kind = SqlToken::Kind::kOther;
  size_t start = 0, size = 0;  // bytes of the SQL
  std::string_view text;
  bool is_name = false;   // a bare or quoted word
  std::string word = {};  // of a bare word: in upper case

  size_t end() const { return start + size; }
};

// Without spaces and comments; an empty one behind the last marks the end.
std::vector<SqlWord> SqlWords(std::string_view sql);

// Whether `text` is a name as SQL takes it without quotes.
bool IsName(std::string_view text);

std::string UpperAscii(std::string_view text);

// Whether SQL takes the two for the same name: the case of ASCII letters does not matter.
bool SameName(std::string_view a, std::string_view b);

// Whether `name` is a word of `sql`, bare or quoted; as in SQL, case does not matter.
bool NamesWord(std::string_view sql, std::string_view name);
// Offset of the parameter :name, or nothing.
std::optional<size_t> FindParameter(std::string_view sql, std::string_view name);

// `sql` with every :name replaced by its value, so that it can be run again by itself.
std::string WithValues(std::string_view sql, std::span<const Binding> bindings);

}  // namespace dladvisor
