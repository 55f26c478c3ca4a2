// SQL as the words and operators that its grammar is made of, on top of sql_text.h's tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dladvisor {

struct Lexeme {
  enum class Kind { kName, kString, kNumber, kParameter, kOperator, kEnd };
  Kind kind = Kind::kEnd;
  size_t start = 0, end = 0;  // bytes of the SQL
  std::string text;           // names without quotes, parameters without colon
  std::string word;           // of a name without quotes: in upper case
};

// Without spaces and comments; the last is kEnd.
std::vector<Lexeme> Lex(std::string_view sql);

std::string Upper(std::string_view text);

}  // namespace dladvisor
