// SPDX-License-Identifier: Apache-2.0
#include "engine/sql/sql_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>

namespace dladvisor {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Letters, digits, _ and $, and every byte of a multi-byte character, as SQLite has it.
bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The end of a text that opens at `start` with `close` as its last character, which stands twice inside.
size_t QuotedEnd(std::string_view sql, size_t start, char close) {
  for (size_t i = start + 1; i < sql.size(); ++i) {
    if (sql[i] != close) continue;
    if (close == ']' || i + 1 == sql.size() || sql[i + 1] != close) return i + 1;
    ++i;
  }
  return sql.size();
}

size_t WordEnd(std::string_view sql, size_t start) {
  while (start < sql.size() && IsWordChar(sql[start])) ++start;
  return start;
}

// Digits, letters as of 0x1F and 1e9, points, and the sign of an exponent.
size_t NumberEnd(std::string_view sql, size_t at) {
  while (at < sql.size() && (std::isalnum(static_cast<unsigned char>(sql[at])) || sql[at] == '.')) {
    const bool exponent = (sql[at] == 'e' || sql[at] == 'E') && at + 1 < sql.size() &&
                          (sql[at + 1] == '+' || sql[at + 1] == '-');
    at += exponent ? 2 : 1;
  }
  return at;
}

size_t SpaceEnd(std::string_view sql, size_t at) {
  while (at < sql.size() && std::isspace(static_cast<unsigned char>(sql[at]))) ++at;
  return at;
}

size_t EndOf(std::string_view sql, size_t found, size_t length) {
  return found == std::string_view::npos ? sql.size() : found + length;
}

SqlToken TokenAt(std::string_view sql, size_t start) {
  using Kind = SqlToken::Kind;
  const char c = sql[start];
  const auto token = [&](Kind kind, size_t end) {
    return SqlToken{kind, start, sql.substr(start, end - start)};
  };
  if (c == '\'') return token(Kind::kString, QuotedEnd(sql, start, '\''));
  if (c == '"' || c == '`') return token(Kind::kQuoted, QuotedEnd(sql, start, c));
  if (c == '[') return token(Kind::kQuoted, QuotedEnd(sql, start, ']'));
  if (sql.substr(start, 2) == "--") return token(Kind::kComment, EndOf(sql, sql.find('\n', start), 1));
  if (sql.substr(start, 2) == "/*") return token(Kind::kComment, EndOf(sql, sql.find("*/", start + 2), 2));
  if (c == '?' || c == ':' || c == '@' || c == '$') {
    const size_t end = WordEnd(sql, start + 1);
    return token(c == '?' || end > start + 1 ? Kind::kParameter : Kind::kOther, end);
  }
  if (IsDigit(c) || (c == '.' && start + 1 < sql.size() && IsDigit(sql[start + 1])))
    return token(Kind::kNumber, NumberEnd(sql, start));
  if (IsWordChar(c)) return token(Kind::kWord, WordEnd(sql, start));
  if (std::isspace(static_cast<unsigned char>(c))) return token(Kind::kSpace, SpaceEnd(sql, start));
  for (const std::string_view op : {"->>", "->", "<=", ">=", "<>", "!=", "==", "||", "<<", ">>"})
    if (sql.substr(start).starts_with(op)) return token(Kind::kOther, start + op.size());
  return token(Kind::kOther, start + 1);
}

// A literal that SQLite reads back as the same value of the same type.
std::string SqlLiteral(const Value& value) {
  if (IsNull(value)) return "NULL";
  if (const auto* integer = std::get_if<int64_t>(&value))
    return *integer < 0 ? fmt::format("({})", *integer) : fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) {
    if (std::isnan(*real)) return "NULL";
    if (std::isinf(*real)) return *real < 0 ? "(-9e999)" : "9e999";
    std::string number = fmt::format("{}", *real);
    if (number.find_first_of(".e") == std::string::npos) number += ".0";
    return std::signbit(*real) ? "(" + number + ")" : number;
  }
  std::string literal = "'";
  for (const char c : std::get<std::string>(value)) literal += c == '\'' ? "''" : std::string(1, c);
  return literal + "'";
}

}  // namespace

std::vector<SqlToken> SqlTokens(std::string_view sql) {
  std::vector<SqlToken> tokens;
  for (size_t at = 0; at < sql.size(); at += tokens.back().text.size()) tokens.push_back(TokenAt(sql, at));
  return tokens;
}

namespace {

// Of a token in quotes or a comment. Within quotes a quote stands twice.
bool IsClosed(const SqlToken& token) {
  const std::string_view text = token.text;
  if (token.kind == SqlToken::Kind::kComment)
    return !text.starts_with("/*") || (text.size() >= 4 && text.ends_with("*/"));
  if (token.kind != SqlToken::Kind::kString && token.kind != SqlToken::Kind::kQuoted) return true;
  if (text[0] == '[') return text.ends_with(']');
  const std::string_view inner = text.substr(1);
  const size_t other = inner.find_last_not_of(text[0]);
  return (inner.size() - (other == std::string_view::npos ? 0 : other + 1)) % 2 == 1;
}

}  // namespace

std::optional<Unclosed> FindUnclosed(std::string_view sql) {
  std::vector<size_t> open;  // parentheses
  for (const SqlToken& token : SqlTokens(sql)) {
    if (!IsClosed(token))
      return Unclosed{token.kind == SqlToken::Kind::kString    ? "a text"
                      : token.kind == SqlToken::Kind::kComment ? "a comment"
                                                               : "a name in quotes",
                      token.start};
    if (token.text == "(") open.push_back(token.start);
    if (token.text == ")" && !open.empty()) open.pop_back();
  }
  if (open.empty()) return std::nullopt;
  return Unclosed{"a parenthesis", open.front()};
}

std::vector<SqlWord> SqlWords(std::string_view sql) {
  std::vector<SqlWord> words;
  for (const SqlToken& token : SqlTokens(sql)) {
    if (token.kind == SqlToken::Kind::kSpace || token.kind == SqlToken::Kind::kComment) continue;
    SqlWord word{token.kind, token.start, token.text.size(), token.text};
    if (token.kind == SqlToken::Kind::kWord) word.word = UpperAscii(token.text);
    if (token.kind == SqlToken::Kind::kQuoted)
      word.text = token.text.substr(1, std::max<size_t>(token.text.size(), 2) - 2);
    word.is_name = token.kind == SqlToken::Kind::kWord || token.kind == SqlToken::Kind::kQuoted;
    words.push_back(std::move(word));
  }
  words.push_back({SqlToken::Kind::kOther, sql.size(), 0, {}});
  return words;
}

std::string UpperAscii(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

bool IsName(std::string_view text) {
  return !text.empty() && !IsDigit(text[0]) && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

bool NamesWord(std::string_view sql, std::string_view name) {
  for (const SqlToken& token : SqlTokens(sql)) {
    if (token.kind == SqlToken::Kind::kWord && SameName(token.text, name)) return true;
    if (token.kind == SqlToken::Kind::kQuoted && token.text.size() >= 2 &&
        SameName(token.text.substr(1, token.text.size() - 2), name))
      return true;
  }
  return false;
}

std::optional<size_t> FindParameter(std::string_view sql, std::string_view name) {
  for (const SqlToken& token : SqlTokens(sql))
    if (token.kind == SqlToken::Kind::kParameter && token.text[0] == ':' && token.text.substr(1) == name)
      return token.start;
  return std::nullopt;
}

std::string WithValues(std::string_view sql, std::span<const Binding> bindings) {
  std::string text;
  for (const SqlToken& token : SqlTokens(sql)) {
    const auto found = std::find_if(bindings.begin(), bindings.end(), [&](const Binding& b) {
      return token.kind == SqlToken::Kind::kParameter && token.text.substr(1) == b.name;
    });
    if (found == bindings.end())
      text += token.text;
    else
      text += SqlLiteral(found->value);
  }
  return text;
}

}  // namespace dladvisor
