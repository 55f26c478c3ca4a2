#include "engine/sql/sql_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The end of the number that starts at `at`.
size_t NumberEnd(std::string_view sql, size_t at) {
  const auto digits = [&] {
    while (at < sql.size() && (std::isalnum(static_cast<unsigned char>(sql[at])) || sql[at] == '.')) {
      const bool exponent = (sql[at] == 'e' || sql[at] == 'E') && at + 1 < sql.size() &&
                            (sql[at + 1] == '+' || sql[at + 1] == '-');
      at += exponent ? 2 : 1;
    }
  };
  digits();
  return at;
}

}  // namespace

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

std::vector<Lexeme> Lex(std::string_view sql) {
  using Kind = Lexeme::Kind;
  static constexpr std::array<std::string_view, 10> kOperators = {"->>", "->", "<=", ">=", "<>",
                                                                  "!=",  "==", "||", "<<", ">>"};
  std::vector<Lexeme> lexemes;
  const auto add = [&](Kind kind, size_t start, size_t end, std::string text) {
    Lexeme lexeme{kind, start, end, std::move(text), ""};
    if (kind == Kind::kName && sql[start] == lexeme.text[0]) lexeme.word = Upper(lexeme.text);
    lexemes.push_back(std::move(lexeme));
  };
  size_t covered = 0;  // operators and numbers join several tokens
  for (const SqlToken& token : SqlTokens(sql)) {
    if (token.start < covered || std::isspace(static_cast<unsigned char>(token.text[0]))) continue;
    covered = token.start + token.text.size();
    switch (token.kind) {
      case SqlToken::Kind::kComment:
        break;
      case SqlToken::Kind::kWord:
        add(Kind::kName, token.start, covered, std::string(token.text));
        break;
      case SqlToken::Kind::kQuoted:
        add(Kind::kName, token.start, covered,
            std::string(token.text.substr(1, std::max<size_t>(token.text.size(), 2) - 2)));
        break;
      case SqlToken::Kind::kString:
        add(Kind::kString, token.start, covered, std::string(token.text));
        break;
      case SqlToken::Kind::kParameter:
        add(Kind::kParameter, token.start, covered, std::string(token.text.substr(1)));
        break;
      case SqlToken::Kind::kOther: {
        const std::string_view rest = sql.substr(token.start);
        if (IsDigit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && IsDigit(rest[1]))) {
          covered = NumberEnd(sql, token.start);
          add(Kind::kNumber, token.start, covered,
              std::string(sql.substr(token.start, covered - token.start)));
          break;
        }
        const auto found = std::ranges::find_if(kOperators, [&](auto op) { return rest.starts_with(op); });
        covered = token.start + (found == kOperators.end() ? 1 : found->size());
        add(Kind::kOperator, token.start, covered, std::string(rest.substr(0, covered - token.start)));
        break;
      }
    }
  }
  lexemes.push_back({Kind::kEnd, sql.size(), sql.size(), "", ""});
  return lexemes;
}

}  // namespace dladvisor
