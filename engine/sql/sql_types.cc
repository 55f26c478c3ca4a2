#include "engine/sql/sql_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "engine/sql/sql_arithmetic.h"
#include "engine/sql/sql_lexer.h"

namespace dladvisor {
namespace {

// Words that end an expression or stand between expressions of a SELECT.
bool IsClauseWord(const std::string& word) {
  static const std::set<std::string> words = {
      "SELECT",  "DISTINCT", "ALL",     "FROM",      "WHERE",     "GROUP",   "BY",        "HAVING",
      "ORDER",   "LIMIT",    "OFFSET",  "JOIN",      "LEFT",      "RIGHT",   "FULL",      "INNER",
      "CROSS",   "OUTER",    "NATURAL", "ON",        "USING",     "UNION",   "INTERSECT", "EXCEPT",
      "VALUES",  "WITH",     "AS",      "RECURSIVE", "ASC",       "DESC",    "NULLS",     "FIRST",
      "LAST",    "WINDOW",   "OVER",    "PARTITION", "ROWS",      "RANGE",   "GROUPS",    "FILTER",
      "WHEN",    "THEN",     "ELSE",    "END",       "AND",       "OR",      "NOT",       "IS",
      "IN",      "LIKE",     "GLOB",    "REGEXP",    "MATCH",     "BETWEEN", "ESCAPE",    "ISNULL",
      "NOTNULL", "COLLATE",  "INDEXED", "PRECEDING", "FOLLOWING", "CURRENT", "UNBOUNDED", "MATERIALIZED"};
  return words.contains(word);
}

class Parser {
 public:
  Parser(std::string_view sql, const ResolveName& resolve)
      : sql_(sql), resolve_(resolve), lexemes_(Lex(sql)) {}

  SqlTypes Run() {
    for (const bool report : {false, true}) {  // the first pass learns the names that the second uses
      at_ = 0;
      report_ = report;
      types_.columns.clear();
      types_.result = IsWord("SELECT") || IsWord("WITH") ? Statement(&types_.columns) : Expression();
    }
    return std::move(types_);
  }

  // Comparisons of the conjunction or disjunction, as the whole text's expression.
  std::vector<Comparison> RunComparisons() {
    collect_ = true;
    Expression();
    return std::move(comparisons_);
  }

 private:
  using Kind = Lexeme::Kind;
  const Lexeme& Now() const { return lexemes_[at_]; }
  const Lexeme& Ahead(size_t n) const { return lexemes_[std::min(at_ + n, lexemes_.size() - 1)]; }
  bool IsWord(const char* word) const { return Now().word == word; }
  bool IsOperator(const char* op) const { return Now().kind == Kind::kOperator && Now().text == op; }
  bool TakeWord(const char* word) { return IsWord(word) && (Next(), true); }
  bool TakeOperator(const char* op) { return IsOperator(op) && (Next(), true); }
  void Next() {
    if (at_ + 1 < lexemes_.size()) ++at_;
  }

  void Report(size_t offset, std::string reason) {
    if (report_) types_.problems.push_back({std::move(reason), offset});
  }

  // A SELECT up to its end or the closing parenthesis; the type of its first column.
  SqlType Statement(std::map<std::string, SqlType>* columns = nullptr) {
    const bool collect = std::exchange(collect_, false);
    SqlType first;
    bool any = false, selecting = false;
    std::string clause;
    while (Now().kind != Kind::kEnd && !IsOperator(")")) {
      const size_t before = at_;
      if (IsClauseWord(Now().word) && !IsWord("NOT")) {
        if (IsWord("SELECT")) selecting = !any || clause == "SELECT";
        if (IsWord("SELECT") || IsWord("FROM") || IsWord("WITH")) clause = Now().word;
        if (IsWord("FROM")) selecting = false;
        Next();
        continue;
      }
      if (Now().kind == Kind::kOperator && !IsOperator("(") && !IsOperator("-") && !IsOperator("+") &&
          !IsOperator("~")) {
        Next();  // , ; * .
        continue;
      }
      const std::string name = Now().kind == Kind::kName ? LastName() : "";
      const SqlType type = Expression();
      std::string alias = name;
      if (IsWord("AS")) Next();
      if (Now().kind == Kind::kName && !IsClauseWord(Now().word)) {
        alias = Now().text;
        Define(alias, type);
        Next();
      }
      if (selecting && !any) first = type;
      if (selecting && columns && !alias.empty()) columns->emplace(alias, type);
      any |= selecting;
      if (at_ == before) Next();
    }
    collect_ = collect;
    return first;
  }

  // The last name of a.b.c ahead, which is also what the column is called.
  std::string LastName() const {
    size_t i = at_;
    while (i + 2 < lexemes_.size() && lexemes_[i + 1].text == "." && lexemes_[i + 2].kind == Kind::kName)
      i += 2;
    return lexemes_[i].text;
  }

  // Several definitions of a name must agree, or it is of no known type.
  void Define(const std::string& name, const SqlType& type) {
    const auto [entry, is_new] = defined_.emplace(Upper(name), type);
    if (!is_new && !(entry->second == type)) entry->second = {};
  }

  SqlType Expression() { return Or(); }

  SqlType Or() {
    SqlType left = And();
    while (TakeWord("OR")) And(), left = Plain(Type::kInteger);
    return left;
  }
  SqlType And() {
    SqlType left = Not();
    while (TakeWord("AND")) Not(), left = Plain(Type::kInteger);
    return left;
  }
  SqlType Not() {
    if (IsWord("NOT") && Ahead(1).word != "EXISTS") {
      Next();
      Not();
      return Plain(Type::kInteger);
    }
    return Equality();
  }

  void Compare(size_t left_start, const SqlType& left, const Lexeme& op, size_t right_start,
               const SqlType& right) {
    const auto text = [&](size_t from, size_t to) { return std::string(sql_.substr(from, to - from)); };
    if (collect_ && depth_ == 0 && op.kind == Kind::kOperator)
      comparisons_.push_back(
          {text(left_start, lexemes_[op_index_ - 1].end), op.text, text(right_start, lexemes_[at_ - 1].end)});
    if (left.type && right.type && IsNumber(left) != IsNumber(right))
      return Report(left_start,
                    "compares a text with a number, by type and not by value: CAST(... AS REAL) converts");
    if (left.unit && right.unit && left.unit != right.unit)
      return Report(left_start,
                    fmt::format("compares {} with {}", UnitName(*left.unit), UnitName(*right.unit)));
    if ((left.share && right.value.value_or(0) > 1) || (right.share && left.value.value_or(0) > 1))
      Report(left_start, "compares a share, which lies between 0 and 1, with a larger number: 15 % is 0.15");
  }

  SqlType Equality() {
    const size_t start = Now().start;
    SqlType left = Relational();
    for (;;) {
      const Lexeme op = Now();
      const bool negated = IsWord("NOT");
      if (negated && !IsPredicate(Ahead(1).word)) return left;
      if (negated) Next();
      op_index_ = at_;
      if (IsOperator("=") || IsOperator("==") || IsOperator("<>") || IsOperator("!=")) {
        Binary(start, left, op, &Parser::Relational);
      } else if (TakeWord("IS")) {
        TakeWord("NOT");
        if (TakeWord("DISTINCT")) TakeWord("FROM");
        if (IsWord("NULL") || IsWord("TRUE") || IsWord("FALSE")) {
          Next();
        } else {
          const size_t right = Now().start;
          Compare(start, left, op, right, Relational());
        }
      } else if (TakeWord("BETWEEN")) {
        for (const bool low : {true, false}) {
          const size_t right = Now().start;
          Compare(start, left, op, right, Relational());
          if (low) TakeWord("AND");
        }
      } else if (TakeWord("IN")) {
        InList(start, left, op);
      } else if (TakeWord("LIKE") || TakeWord("GLOB") || TakeWord("REGEXP") || TakeWord("MATCH")) {
        Relational();
        if (TakeWord("ESCAPE")) Relational();
      } else if (!TakeWord("ISNULL") && !TakeWord("NOTNULL") && !TakeWord("NULL")) {
        return left;
      }
      left = Plain(Type::kInteger);
    }
  }

  static bool IsPredicate(const std::string& word) {
    return word == "IN" || word == "LIKE" || word == "GLOB" || word == "REGEXP" || word == "MATCH" ||
           word == "BETWEEN" || word == "NULL";
  }

  void InList(size_t start, const SqlType& left, const Lexeme& op) {
    if (!TakeOperator("(")) {
      Primary();  // a table
      return;
    }
    ++depth_;
    while (Now().kind != Kind::kEnd && !IsOperator(")")) {
      const size_t right = Now().start, before = at_;
      if (IsWord("SELECT") || IsWord("WITH"))
        Compare(start, left, op, right, Statement());
      else
        Compare(start, left, op, right, Expression());
      TakeOperator(",");
      if (at_ == before) Next();
    }
    --depth_;
    TakeOperator(")");
  }

  void Binary(size_t start, const SqlType& left, const Lexeme& op, SqlType (Parser::*operand)()) {
    const size_t op_at = at_;
    Next();
    const size_t right_start = Now().start;
    const SqlType right = (this->*operand)();
    op_index_ = op_at;
    Compare(start, left, op, right_start, right);
  }

  SqlType Relational() {
    const size_t start = Now().start;
    SqlType left = Bits();
    for (bool chained = false; IsOperator("<") || IsOperator("<=") || IsOperator(">") || IsOperator(">=");
         chained = true) {
      if (chained) Report(Now().start, "compares the result of a comparison: write a < b AND b < c");
      Binary(start, left, Lexeme(Now()), &Parser::Bits);
      left = Plain(Type::kInteger);
    }
    return left;
  }

  SqlType Bits() {
    SqlType left = Sum();
    while (IsOperator("&") || IsOperator("|") || IsOperator("<<") || IsOperator(">>")) {
      Next();
      Sum();
      left = Plain(Type::kInteger);
    }
    return left;
  }

  SqlType Sum() {
    const size_t start = Now().start;
    SqlType left = Product();
    while (IsOperator("+") || IsOperator("-")) {
      const bool minus = IsOperator("-");
      Next();
      const SqlType right = Product();
      if (left.unit && right.unit && left.unit != right.unit)
        Report(start, fmt::format("{} {} {}", minus ? "subtracts" : "adds",
                                  minus ? UnitName(*right.unit) : UnitName(*left.unit),
                                  minus ? fmt::format("from {}", UnitName(*left.unit))
                                        : fmt::format("and {}", UnitName(*right.unit))));
      const bool share = minus && ((left.literal && right.share) || left.share);
      left = SumOf(left, right);
      left.share = share;
    }
    return left;
  }

  SqlType Product() {
    SqlType left = Concatenation();
    while (IsOperator("*") || IsOperator("/") || IsOperator("%")) {
      const Lexeme op = Now();
      Next();
      const SqlType right = Concatenation();
      if (op.text == "/" && left.type == Type::kInteger && right.type == Type::kInteger)
        Report(op.start, "divides integers, which drops the remainder: use ratio(a, b)");
      left = op.text == "*" ? ProductOf(left, right) : QuotientOf(left, right);
    }
    return left;
  }

  SqlType Concatenation() {
    SqlType left = Unary();
    while (IsOperator("||") || IsOperator("->") || IsOperator("->>")) {
      left = IsOperator("||") ? Plain(Type::kText) : SqlType();
      Next();
      Unary();
    }
    return left;
  }

  SqlType Unary() {
    if (IsOperator("-") || IsOperator("+") || IsOperator("~")) {
      const bool plus = IsOperator("+");
      Next();
      SqlType type = Unary();
      if (!plus) type.value = std::nullopt;
      return type;
    }
    SqlType type = Primary();
    while (TakeWord("COLLATE")) Next();
    return type;
  }

  SqlType Primary() {
    const Lexeme token = Now();
    switch (token.kind) {
      case Kind::kNumber: {
        Next();
        const bool real =
            token.text.find_first_of(".eE") != std::string::npos && !token.text.starts_with("0x");
        double number = 0;
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
        return {real ? Type::kReal : Type::kInteger, std::nullopt, true, false, number};
      }
      case Kind::kString:
        Next();
        return Plain(Type::kText);
      case Kind::kParameter:
        Next();
        return resolve_(":", token.text);
      case Kind::kOperator:
        if (TakeOperator("(")) return Parenthesis();
        return {};  // the caller goes on
      case Kind::kName:
        return Name();
      case Kind::kEnd:
        return {};
    }
    return {};
  }

  SqlType Parenthesis() {
    SqlType type;
    if (IsWord("SELECT") || IsWord("WITH") || IsWord("VALUES")) {
      type = Statement();
    } else {
      type = Expression();
      while (TakeOperator(",")) Expression(), type = {};  // a row value
    }
    TakeOperator(")");
    return type;
  }

  SqlType Name() {
    if (IsWord("CASE")) return Case();
    if (IsWord("CAST")) return Cast();
    if (TakeWord("EXISTS") || (IsWord("NOT") && Ahead(1).word == "EXISTS" && (Next(), Next(), true))) {
      Primary();
      return Plain(Type::kInteger);
    }
    if (TakeWord("NULL")) return {};
    if (TakeWord("TRUE") || TakeWord("FALSE")) return Plain(Type::kInteger);
    if (IsClauseWord(Now().word)) return {};
    if (Ahead(1).kind == Kind::kOperator && Ahead(1).text == "(") return Function();
    std::string qualifier, name = Now().text;
    Next();
    while (IsOperator(".") && Ahead(1).kind == Kind::kName) {
      Next();
      qualifier = std::exchange(name, Now().text);
      Next();
    }
    const SqlType outer = resolve_(qualifier, name);
    const auto own = defined_.find(Upper(name));
    if (own == defined_.end()) return outer;
    return outer == SqlType() || outer == own->second ? own->second : SqlType();
  }

  SqlType Case() {
    ++depth_;
    Next();
    if (!IsWord("WHEN")) Expression();
    SqlType type;
    bool first = true;
    while (TakeWord("WHEN")) {
      Expression();
      TakeWord("THEN");
      const SqlType branch = Expression();
      type = std::exchange(first, false) ? branch : Common(type, branch);
    }
    if (TakeWord("ELSE")) type = Common(type, Expression());
    TakeWord("END");
    --depth_;
    return type;
  }

  SqlType Cast() {
    Next();
    TakeOperator("(");
    ++depth_;
    SqlType type = Expression();
    TakeWord("AS");
    const std::string name = Now().word;
    while (Now().kind != Kind::kEnd && !IsOperator(")")) Next();
    --depth_;
    TakeOperator(")");
    type.type = name.find("INT") != std::string::npos ? std::optional(Type::kInteger)
                : name.find("CHAR") != std::string::npos || name.find("TEXT") != std::string::npos
                    ? std::optional(Type::kText)
                : name.find("REAL") != std::string::npos || name.find("FLOA") != std::string::npos ||
                        name.find("DOUB") != std::string::npos
                    ? std::optional(Type::kReal)
                    : std::nullopt;
    return type;
  }

  SqlType Function() {
    const std::string function = Upper(Now().text);
    Next();
    Next();
    ++depth_;
    std::vector<SqlType> arguments;
    TakeWord("DISTINCT");
    while (Now().kind != Kind::kEnd && !IsOperator(")")) {
      const size_t before = at_;
      if (IsWord("SELECT") || IsWord("WITH"))
        arguments.push_back(Statement());
      else
        arguments.push_back(Expression());
      TakeOperator(",");
      if (at_ == before) Next();
    }
    TakeOperator(")");
    if (TakeWord("FILTER") && TakeOperator("(")) {
      Statement();
      TakeOperator(")");
    }
    if (TakeWord("OVER")) {
      if (TakeOperator("(")) {
        Statement();
        TakeOperator(")");
      } else {
        Next();
      }
    }
    --depth_;
    return ResultOfFunction(function, arguments);
  }

  std::string_view sql_;
  const ResolveName& resolve_;
  std::vector<Lexeme> lexemes_;
  size_t at_ = 0, op_index_ = 0;
  int depth_ = 0;  // of functions and lists, whose comparisons are not the condition's own
  bool report_ = false, collect_ = false;
  std::map<std::string, SqlType> defined_;
  std::vector<Comparison> comparisons_;
  SqlTypes types_;
};

}  // namespace

SqlTypes InferTypes(std::string_view sql, const ResolveName& resolve) { return Parser(sql, resolve).Run(); }

std::vector<Comparison> Comparisons(std::string_view condition) {
  const ResolveName none = [](std::string_view, std::string_view) { return SqlType(); };
  return Parser(condition, none).RunComparisons();
}

}  // namespace dladvisor
