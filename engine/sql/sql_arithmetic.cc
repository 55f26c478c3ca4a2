#include "engine/sql/sql_arithmetic.h"

#include <cmath>
#include <set>

namespace dladvisor {
namespace {

// A number such as 1e6, 1024 or 100 converts into another unit.
bool IsConversion(const SqlType& t) {
  const double size = std::abs(t.value.value_or(1));
  return t.literal && (size >= 100 || (size > 0 && size <= 0.01));
}

bool IsFactor(const SqlType& t) {
  return (t.literal && !IsConversion(t)) || t.unit == Unit::kRatio || t.unit == Unit::kCount;
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

}  // namespace

SqlType Plain(Type type) { return {type, std::nullopt, false, false, {}}; }

SqlType Common(const SqlType& a, const SqlType& b) {
  SqlType common;
  if (a.type == b.type) common.type = a.type;
  if (a.type && b.type && *a.type != Type::kText && *b.type != Type::kText && a.type != b.type)
    common.type = Type::kReal;
  if (a.unit == b.unit || b.literal) common.unit = a.unit;
  if (a.literal) common.unit = b.unit;
  common.literal = a.literal && b.literal;
  common.share = (a.share && (b.share || b.literal)) || (a.literal && b.share);
  return common;
}

bool IsNumber(const SqlType& t) { return t.type && *t.type != Type::kText; }

SqlType SumOf(const SqlType& a, const SqlType& b) {
  SqlType result = Common(a, b);
  if (!IsNumber(a) || !IsNumber(b)) result.type = std::nullopt;
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

SqlType ResultOfFunction(const std::string& function, const std::vector<SqlType>& arguments) {
  static const std::set<std::string> kIntegers = {"COUNT", "LENGTH",     "INSTR",  "UNICODE",
                                                  "LIKE",  "GLOB",       "REGEXP", "ROW_NUMBER",
                                                  "RANK",  "DENSE_RANK", "NTILE"};
  static const std::set<std::string> kTexts = {"UPPER",     "LOWER",        "TRIM",  "LTRIM",
                                               "RTRIM",     "SUBSTR",       "CHAR",  "REPLACE",
                                               "SUBSTRING", "GROUP_CONCAT", "TYPEOF"};
  static const std::set<std::string> kLikeFirst = {"SUM",         "ABS",        "NULLIF",    "LAG",   "LEAD",
                                                   "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE", "ROUND", "AVG",
                                                   "TOTAL",       "FLOOR",      "CEIL",      "TRUNC"};
  if (kIntegers.contains(function)) return Plain(Type::kInteger);
  if (kTexts.contains(function)) return Plain(Type::kText);
  if (arguments.empty()) return {};
  if (function == "RATIO" && arguments.size() == 2)
    return {Type::kReal, QuotientUnit(arguments[0], arguments[1]), false, false, {}};
  SqlType type = arguments[0];
  if (function == "IIF" && arguments.size() == 3) return Common(arguments[1], arguments[2]);
  if (function == "MAX" || function == "MIN" || function == "COALESCE" || function == "IFNULL") {
    for (const SqlType& argument : arguments) type = Common(type, argument);
    return type;
  }
  if (!kLikeFirst.contains(function)) return {};
  if (function == "AVG" || function == "TOTAL" || function == "ROUND") type.type = Type::kReal;
  if (function == "SUM" || function == "TOTAL") type.share = false;
  type.literal = false;
  return type;
}

SqlType TypeOfColumn(std::string_view name, Type type, Unit unit) {
  SqlType result{type, unit, false, false, {}};
  if (unit == Unit::kNone || unit == Unit::kText) result.unit = std::nullopt;
  result.share = unit == Unit::kRatio &&
                 (name.ends_with("share") || name.ends_with("_utilization") || name.ends_with("_efficiency"));
  return result;
}

}  // namespace dladvisor
