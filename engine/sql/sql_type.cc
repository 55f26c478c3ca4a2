// SPDX-License-Identifier: Apache-2.0
#include "engine/sql/sql_type.h"

#include <cmath>
#include <map>

namespace dladvisor {
namespace {

// A number such as 1e6, 1024 or 100 converts into another unit.
bool IsConversion(const SqlType& t) {
  const double size = std::abs(t.value.value_or(1));
  return t.literal && (size >= 100 || (size > 0 && size <= 0.01));
}

bool IsFactor(const SqlType& t) {
  return (t.literal && !IsConversion(t)) || t.unit == Unit::kRatio || t.unit == Unit::kCount ||
         t.unit == Unit::kCountPerStep;
}

std::optional<Unit> QuotientUnit(const SqlType& a, const SqlType& b) {
  if (a.unit && a.unit == b.unit) return Unit::kRatio;
  return IsFactor(b) ? a.unit : std::nullopt;
}

// The unit and share of a product or quotient: a ratio times 100 is perhaps a percentage.
SqlType Scaled(SqlType result, const SqlType& a, const SqlType& b) {
  if (a.unit == Unit::kRatio && b.unit == Unit::kRatio) result.unit = Unit::kRatio;
  if ((a.unit == Unit::kRatio && b.literal) || (b.unit == Unit::kRatio && a.literal))
    result.unit = std::nullopt;
  result.literal = a.literal && b.literal;
  result.share = a.share && b.share;
  return result;
}

enum class Result {
  kInteger,
  kText,
  kFirst,     // what the first argument is, no longer a literal
  kFirstSum,  // likewise; a sum of shares is not a share
  kFirstReal,
  kFirstRealSum,
  kCommon,  // of all arguments
};

// Functions with a known result; aggregates and window functions among them.
const std::map<std::string_view, Result>& Results() {
  using enum Result;
  static const std::map<std::string_view, Result> results = {
      {"COUNT", kInteger},       {"LENGTH", kInteger},
      {"INSTR", kInteger},       {"UNICODE", kInteger},
      {"LIKE", kInteger},        {"GLOB", kInteger},
      {"REGEXP", kInteger},      {"ROW_NUMBER", kInteger},
      {"RANK", kInteger},        {"NTILE", kInteger},
      {"DENSE_RANK", kInteger},  {"UPPER", kText},
      {"LOWER", kText},          {"TRIM", kText},
      {"LTRIM", kText},          {"RTRIM", kText},
      {"SUBSTR", kText},         {"SUBSTRING", kText},
      {"CHAR", kText},           {"REPLACE", kText},
      {"TYPEOF", kText},         {"GROUP_CONCAT", kText},
      {"ABS", kFirst},           {"NULLIF", kFirst},
      {"FLOOR", kFirst},         {"CEIL", kFirst},
      {"TRUNC", kFirst},         {"LAG", kFirst},
      {"LEAD", kFirst},          {"FIRST_VALUE", kFirst},
      {"LAST_VALUE", kFirst},    {"NTH_VALUE", kFirst},
      {"SUM", kFirstSum},        {"AVG", kFirstReal},
      {"ROUND", kFirstReal},     {"TOTAL", kFirstRealSum},
      {"MAX", kCommon},          {"MIN", kCommon},
      {"MEDIAN", kFirstReal},    {"PERCENTILE", kFirstReal},
      {"REGEXP_EXTRACT", kText}, {"COALESCE", kCommon},
      {"IFNULL", kCommon}};
  return results;
}

}  // namespace

SqlType TypeOfColumn(std::string_view name, Type type, Unit unit) {
  SqlType result{type, unit, false, false, {}};
  if (unit == Unit::kNone || unit == Unit::kText) result.unit = std::nullopt;
  result.share = unit == Unit::kRatio && (name.find("share") != name.npos || name.ends_with("_utilization") ||
                                          name.ends_with("_efficiency"));
  return result;
}

SqlType Plain(Type type) { return {type, std::nullopt, false, false, {}}; }

bool IsNumber(const SqlType& t) { return t.type && *t.type != Type::kText; }

bool IsNoCondition(const SqlType& t) {
  return t.table || t.type == Type::kText || t.type == Type::kReal || (t.unit && *t.unit != Unit::kCount) ||
         (t.value && *t.value != 0 && *t.value != 1);
}

std::string NoCondition(const SqlType& t) {
  return std::string("is a ") + (t.type == Type::kText ? "text" : "number") +
         ", which is neither true nor false: compare it";
}

std::string_view PatternProblem(std::string_view op, std::string_view literal) {
  if (literal.size() < 4 || literal.front() != '\'' || literal.back() != '\'') return "";
  const auto has = [&](std::string_view any) { return literal.find_first_of(any) != std::string_view::npos; };
  if (op == "LIKE" && has("*") && !has("%_")) return "fits the character * alone: LIKE has % for any text";
  if (op == "GLOB" && has("%") && !has("*?[")) return "fits the character % alone: GLOB has * for any text";
  if ((op == "=" || op == "==") && (literal[1] == '%' || literal[literal.size() - 2] == '%'))
    return "equals that text with its %: LIKE compares with a pattern";
  return "";
}

SqlType Common(const SqlType& a, const SqlType& b) {
  SqlType common;
  if (a.type == b.type) common.type = a.type;
  if (IsNumber(a) && IsNumber(b) && a.type != b.type) common.type = Type::kReal;
  if (a.unit == b.unit || b.literal) common.unit = a.unit;
  if (a.literal) common.unit = b.unit;
  common.literal = a.literal && b.literal;
  common.share = (a.share && (b.share || b.literal)) || (a.literal && b.share);
  return common;
}

SqlType SumOf(const SqlType& a, const SqlType& b) {
  SqlType result = Common(a, b);
  if (!IsNumber(a) || !IsNumber(b)) result.type = std::nullopt;
  result.share = false;
  return result;
}

SqlType DifferenceOf(const SqlType& a, const SqlType& b) {
  SqlType result = SumOf(a, b);
  result.share = a.share || (a.literal && b.share);
  return result;
}

SqlType ProductOf(const SqlType& a, const SqlType& b) {
  SqlType result = SumOf(a, b);
  result.unit = IsFactor(b) ? a.unit : IsFactor(a) ? b.unit : std::nullopt;
  return Scaled(result, a, b);
}

SqlType QuotientOf(const SqlType& a, const SqlType& b) {
  SqlType result = SumOf(a, b);
  result.unit = QuotientUnit(a, b);
  return Scaled(result, a, b);
}

SqlType ResultOfFunction(std::string_view function, std::span<const SqlType> arguments) {
  const auto known = Results().find(function);
  if (known != Results().end() && known->second == Result::kInteger) return Plain(Type::kInteger);
  if (known != Results().end() && known->second == Result::kText) return Plain(Type::kText);
  if (function == "LOOKUP" && arguments.size() == 2)
    return {Type::kReal, arguments[0].unit, false, false, {}};
  if (function == "RATIO" && arguments.size() == 2)
    return {Type::kReal, QuotientUnit(arguments[0], arguments[1]), false, false, {}};
  if (function == "IIF" && arguments.size() == 3) return Common(arguments[1], arguments[2]);
  if (known == Results().end() || arguments.empty()) return {};
  SqlType type = arguments[0];
  if (known->second == Result::kCommon) {
    for (const SqlType& argument : arguments) type = Common(type, argument);
    return type;
  }
  type.literal = false;
  if (known->second == Result::kFirstReal || known->second == Result::kFirstRealSum) type.type = Type::kReal;
  if (known->second == Result::kFirstSum || known->second == Result::kFirstRealSum) type.share = false;
  return type;
}

std::optional<Type> TypeByName(std::string_view name) {
  constexpr struct {
    std::string_view part;
    Type type;
  } kParts[] = {{"INT", Type::kInteger}, {"CHAR", Type::kText}, {"TEXT", Type::kText},
                {"REAL", Type::kReal},   {"FLOA", Type::kReal}, {"DOUB", Type::kReal}};
  for (const auto& [part, type] : kParts)
    if (name.find(part) != std::string_view::npos) return type;
  return std::nullopt;
}

}  // namespace dladvisor
