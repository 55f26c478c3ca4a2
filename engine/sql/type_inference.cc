// SPDX-License-Identifier: Apache-2.0
#include "engine/sql/type_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "engine/sql/operator_level.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

// "share" and "subject.share".
bool IsColumnName(std::string_view text) {
  return std::ranges::all_of(
      text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '"'; });
}

using namespace sql;

class Parser {
 public:
  Parser(std::string_view sql, const ResolveName& resolve)
      : sql_(sql), resolve_(resolve), tokens_(SqlWords(sql)) {}

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
  using Kind = SqlToken::Kind;

  // The left side of an operator.
  struct Operand {
    size_t start, end;
    SqlType type;
  };

  const SqlWord& Now() const { return tokens_[at_]; }
  const SqlWord& Ahead(size_t n) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  bool AtEnd() const { return at_ + 1 == tokens_.size(); }
  bool IsWord(std::string_view word) const { return Now().word == word; }
  bool IsOperator(std::string_view op) const { return Now().kind == Kind::kOther && Now().text == op; }
  bool IsSign() const { return IsOperator("-") || IsOperator("+") || IsOperator("~"); }
  bool IsQuery() const { return IsWord("SELECT") || IsWord("WITH") || IsWord("VALUES"); }
  bool TakeWord(std::string_view word) { return NextIf(IsWord(word)); }
  bool TakeOperator(std::string_view op) { return NextIf(IsOperator(op)); }
  bool NextIf(bool take) {
    if (take) Next();
    return take;
  }
  void Next() {
    if (!AtEnd()) ++at_;
  }
  std::string Text(size_t from, size_t to) const { return std::string(sql_.substr(from, to - from)); }

  void Report(size_t offset, std::string reason) {
    if (report_) types_.problems.push_back({std::move(reason), offset});
  }

  // A SELECT up to its end or the closing parenthesis; the type of its first column.
  SqlType Statement(std::map<std::string, SqlType>* columns = nullptr) {
    const bool collect = std::exchange(collect_, false);
    SqlType first;
    bool any = false, selecting = false;
    std::string clause;
    while (!AtEnd() && !IsOperator(")")) {
      const size_t before = at_;
      if (IsClauseWord(Now().word) && !IsWord("NOT")) {
        if (IsWord("SELECT")) selecting = !any || clause == "SELECT";
        if (IsWord("SELECT") || IsWord("FROM") || IsWord("WITH")) clause = Now().word;
        if (IsWord("FROM")) selecting = false;
        Next();
        continue;
      }
      if (Now().kind == Kind::kOther && !IsOperator("(") && !IsSign()) {
        Next();  // , ; * .
        continue;
      }
      std::string alias = LastName();
      const SqlType type = Expression();
      TakeWord("AS");
      if (Now().is_name && !IsClauseWord(Now().word)) {
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

  // The last name of a.b.c ahead, which is also what the column is called; "" where no name is.
  std::string LastName() const {
    if (!Now().is_name) return "";
    size_t i = 0;
    while (Ahead(i + 1).text == "." && Ahead(i + 2).is_name) i += 2;
    return std::string(Ahead(i).text);
  }

  // Several definitions of a name must agree, or it is of no known type.
  void Define(const std::string& name, const SqlType& type) {
    const auto [entry, is_new] = defined_.emplace(UpperAscii(name), type);
    if (!is_new && !(entry->second == type)) entry->second = {};
  }

  // The level of the operator that is next, or kNone.
  OperatorLevel LevelAhead() const {
    static constexpr std::string_view kNegatable[] = {"IN",    "LIKE",    "GLOB", "REGEXP",
                                                      "MATCH", "BETWEEN", "NULL"};
    if (IsWord("NOT"))
      return std::ranges::find(kNegatable, Ahead(1).word) == std::end(kNegatable) ? kNone : kEquality;
    const std::string_view token = Now().kind == Kind::kOther ? Now().text : std::string_view(Now().word);
    for (const auto& [level, operators] : Operators())
      if (operators.contains(token)) return level;
    return kNone;
  }

  // An expression of operators that bind at least as tightly as `weakest`.
  SqlType Expression(OperatorLevel weakest = kOr) {
    const size_t start = Now().start;
    OperatorLevel strongest = kUnary;
    SqlType left;
    if (weakest <= kNot && IsWord("NOT") && Ahead(1).word != "EXISTS") {
      Next();
      const size_t negated = Now().start;
      const SqlType type = Expression(kNot);
      if (IsNoCondition(type)) Report(negated, Text(negated, EndBefore()) + " " + NoCondition(type));
      left = Plain(Type::kInteger);
      strongest = kAnd;
    } else {
      left = Prefixed();
    }
    for (;;) {
      const OperatorLevel level = LevelAhead();
      if (level < weakest || level > strongest) return left;
      const bool chained = strongest == kOrder && level == kOrder && !std::exchange(joins_conditions_, false);
      if (chained) Report(Now().start, "compares the result of a comparison: write a < b AND b < c");
      left = Applied({start, EndBefore(), left}, level);
      strongest = level;
    }
  }

  size_t EndBefore() const { return at_ == 0 ? 0 : tokens_[at_ - 1].end(); }

  // What the operator that is next makes of `left` and of what follows.
  SqlType Applied(const Operand& left, OperatorLevel level) {
    const SqlWord op = Now();
    Next();
    const auto tighter = static_cast<OperatorLevel>(level + 1);
    switch (level) {
      case kEquality:
        if (op.kind != Kind::kOther) {
          Predicate(left, op);
          break;
        }
        [[fallthrough]];
      case kOrder:
        Compare(left, op, tighter);
        break;
      case kSum:
        return Sum(left, op, Expression(tighter));
      case kProduct: {
        const SqlType right = Expression(tighter);
        if (op.text == "/" && left.type.type == Type::kInteger && right.type == Type::kInteger)
          Report(op.start, "divides integers, which drops the remainder: use ratio(a, b)");
        return op.text == "*" ? ProductOf(left.type, right) : QuotientOf(left.type, right);
      }
      case kConcatenation: {
        const SqlType right = Expression(tighter);
        if (op.text != "||") return {};
        if (!IsNumber(left.type) || !IsNumber(right)) return Plain(Type::kText);
        Report(op.start, "joins texts: SQL has OR in place of ||");
        joins_conditions_ = true;
        return {};
      }
      case kOr:
      case kAnd: {
        JudgeCondition(left, op);
        const size_t start = Now().start;
        const SqlType right = Expression(tighter);
        JudgeCondition({start, EndBefore(), right}, op);
        break;
      }
      default:
        Expression(tighter);
        break;
    }
    return Plain(Type::kInteger);
  }

  // One of those that AND, OR or NOT is of. SQLite takes a literal, as in `kind = 'a' OR 'b'`, as well.
  void JudgeCondition(const Operand& condition, const SqlWord& op) {
    const std::string text = Text(condition.start, condition.end);
    if (IsLiteral(text))
      Report(condition.start,
             fmt::format("{} compares nothing: each side of {} is a condition of its own", text, op.word));
    else if (IsNoCondition(condition.type))
      Report(condition.start, text + " " + NoCondition(condition.type));
  }

  static bool IsLiteral(std::string_view text) {
    const std::vector<SqlWord> words = SqlWords(text);
    return !words.empty() && words[0].end() == text.size() &&
           (words[0].kind == Kind::kNumber || words[0].kind == Kind::kString);
  }

  SqlType Sum(const Operand& left, const SqlWord& op, const SqlType& right) {
    const bool minus = op.text == "-";
    if (left.type.unit && right.unit && left.type.unit != right.unit)
      Report(left.start, fmt::format(fmt::runtime(minus ? "subtracts {1} from {0}" : "adds {} and {}"),
                                     UnitName(*left.type.unit), UnitName(*right.unit)));
    return minus ? DifferenceOf(left.type, right) : SumOf(left.type, right);
  }

  // What follows IS, BETWEEN, IN, LIKE and so on, each perhaps after NOT.
  void Predicate(const Operand& left, const SqlWord& op) {
    std::string word = op.word;
    if (word == "NOT") {
      word = Now().word;
      Next();
    }
    if (word == "IS") {
      TakeWord("NOT");
      if (TakeWord("DISTINCT")) TakeWord("FROM");
      if (!TakeWord("NULL") && !TakeWord("TRUE") && !TakeWord("FALSE")) Compare(left, op, kOrder);
    } else if (word == "BETWEEN") {
      const SqlType least = Compare(left, op, kOrder);
      TakeWord("AND");
      const SqlType most = Compare(left, op, kOrder);
      if (least.value && most.value && *least.value > *most.value)
        Report(op.start, "lies between nothing: BETWEEN has the smaller number first");
    } else if (word == "IN") {
      InList(left, op);
    } else if (word == "LIKE" || word == "GLOB" || word == "REGEXP" || word == "MATCH") {
      if (Now().kind == Kind::kString)
        if (const auto reason = PatternProblem(word, Now().text); !reason.empty())
          Report(Now().start, std::string(reason));
      Expression(kOrder);
      if (TakeWord("ESCAPE")) Expression(kOrder);
    }
  }

  void InList(const Operand& left, const SqlWord& op) {
    if (!TakeOperator("(")) {
      Primary();  // a table
      return;
    }
    ForEachInParentheses([&] {
      const size_t start = Now().start;
      const bool is_null = IsWord("NULL") && (Ahead(1).text == "," || Ahead(1).text == ")");
      Judge(left, op, start, IsQuery() ? Statement() : Expression());
      if (is_null && op.word == "NOT")
        Report(start, "makes NOT IN true of nothing: leave it out, or ask for IS NOT NULL");
      else if (is_null)
        Report(start, "equals nothing, also in a list: IS NULL asks for it");
    });
  }

  // Calls `read` at each element of a list up to and with its closing parenthesis.
  template <class Read>
  void ForEachInParentheses(Read read) {
    ++depth_;
    while (!AtEnd() && !IsOperator(")")) {
      const size_t before = at_;
      read();
      TakeOperator(",");
      if (at_ == before) Next();
    }
    --depth_;
    TakeOperator(")");
  }

  SqlType Compare(const Operand& left, const SqlWord& op, OperatorLevel tighter) {
    const size_t start = Now().start;
    const bool is_null = Now().word == "NULL";
    SqlType right = Expression(tighter);
    Judge(left, op, start, right);
    const auto reason = PatternProblem(op.text, Text(start, EndBefore()));
    if (!reason.empty()) Report(start, std::string(reason));
    if (is_null && op.kind == Kind::kOther && Text(start, EndBefore()).size() == 4)
      Report(left.start, "is never true of NULL: IS NULL and IS NOT NULL ask for it");
    return right;
  }

  void Judge(const Operand& left, const SqlWord& op, size_t right_start, const SqlType& right) {
    if (collect_ && depth_ == 0 && op.kind == Kind::kOther)
      comparisons_.push_back(
          {Text(left.start, left.end), std::string(op.text), Text(right_start, EndBefore())});
    const SqlType& type = left.type;
    if (op.kind == Kind::kOther && !type.literal &&
        Text(left.start, left.end) == Text(right_start, EndBefore()))
      return Report(left.start, fmt::format("compares {} with itself", Text(left.start, left.end)));
    if (type.table || right.table)
      return Report(left.start, "compares a table of values: lookup(:NAME, TEXT) reads the one that fits");
    if (type.type && right.type && IsNumber(type) != IsNumber(right))
      return Report(left.start,
                    "compares a text with a number, by type and not by value: CAST(... AS REAL) converts");
    if (type.unit && right.unit && type.unit != right.unit)
      return Report(left.start,
                    fmt::format("compares {} with {}", UnitName(*type.unit), UnitName(*right.unit)));
    if ((type.share && right.value.value_or(0) > 1) || (right.share && type.value.value_or(0) > 1))
      Report(left.start, "compares a share, which lies between 0 and 1, with a larger number: 15 % is 0.15");
    // What is computed of shares may be below 0: a difference, coalesce(share, -1). So may be a param that
    // lets all through.
    const auto is_below = [](const SqlType& number) {
      return number.literal && number.value.value_or(0) < 0;
    };
    if ((type.share && is_below(right) && IsColumnName(Text(left.start, left.end))) ||
        (right.share && is_below(type) && IsColumnName(Text(right_start, EndBefore()))))
      Report(left.start, "compares a share, which lies between 0 and 1, with a number below 0");
  }

  // An operand with its signs and collation.
  SqlType Prefixed() {
    if (IsSign()) {
      const bool plus = IsOperator("+"), negates = IsOperator("-");
      Next();
      SqlType type = Prefixed();
      if (type.value && negates) type.value = -*type.value;
      if (!plus && !negates) type.value = std::nullopt;
      return type;
    }
    const SqlType type = Primary();
    while (TakeWord("COLLATE")) Next();
    return type;
  }

  SqlType Primary() {
    const SqlWord token = Now();
    if (token.is_name) return Name();
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
        return resolve_(":", token.text.substr(1));
      default:
        if (TakeOperator("(")) return Parenthesis();
        return {};  // the caller goes on
    }
  }

  SqlType Parenthesis() {
    SqlType type;
    if (IsQuery()) {
      type = Statement();
    } else {
      type = Expression();
      while (TakeOperator(",")) {  // a row value
        Expression();
        type = {};
      }
    }
    TakeOperator(")");
    return type;
  }

  SqlType Name() {
    if (IsWord("CASE")) return Case();
    if (IsWord("CAST")) return Cast();
    if (IsWord("NOT") && Ahead(1).word == "EXISTS") Next();
    if (TakeWord("EXISTS")) {
      Primary();
      return Plain(Type::kInteger);
    }
    if (TakeWord("NULL")) return {};
    if (TakeWord("TRUE") || TakeWord("FALSE")) return Plain(Type::kInteger);
    if (IsClauseWord(Now().word)) return {};
    if (Ahead(1).text == "(") return Function();
    std::string_view qualifier, name = Now().text;
    Next();
    while (IsOperator(".") && Ahead(1).is_name) {
      Next();
      qualifier = std::exchange(name, Now().text);
      Next();
    }
    const SqlType outer = resolve_(qualifier, name);
    const auto own = defined_.find(UpperAscii(name));
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
    type.type = TypeByName(Now().word);
    while (!AtEnd() && !IsOperator(")")) Next();
    --depth_;
    TakeOperator(")");
    return type;
  }

  SqlType Function() {
    const std::string function = UpperAscii(Now().text);
    const size_t start = Now().start;
    Next();
    Next();
    TakeWord("DISTINCT");
    std::vector<SqlType> arguments;
    ForEachInParentheses([&] { arguments.push_back(IsQuery() ? Statement() : Expression()); });
    ++depth_;
    for (const std::string_view clause : {"FILTER", "OVER"}) {
      if (!TakeWord(clause)) continue;
      if (TakeOperator("(")) {
        Statement();
        TakeOperator(")");
      } else {
        Next();  // the name of a window
      }
    }
    --depth_;
    if (function == "LOOKUP" && !arguments.empty() && IsNumber(arguments[0]))
      Report(start, "looks a value up in a single number: give the param a 'table' of them by pattern");
    return ResultOfFunction(function, arguments);
  }

  std::string_view sql_;
  const ResolveName& resolve_;
  std::vector<SqlWord> tokens_;
  size_t at_ = 0;
  int depth_ = 0;  // of functions and lists, whose comparisons are not the condition's own
  bool report_ = false, collect_ = false;
  bool joins_conditions_ = false;  // by || as in C, which is of texts: what follows it means no comparison
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
