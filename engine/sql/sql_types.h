// Types and units of SQL expressions, as far as their text tells. SQLite has neither, and takes silently what
// nobody means: a division of integers, which drops the remainder, or a comparison of a number with a text or
// of bytes with nanoseconds. Only what is certain is reported; what is not understood has no type.
//
// The grammar is SQLite's expression grammar (https://sqlite.org/lang_expr.html) read tolerantly: SQLite
// itself has accepted the statement before.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/value.h"

namespace dladvisor {

struct SqlType {
  std::optional<Type> type;     // nothing: not known
  std::optional<Unit> unit;     // nothing: not known, or of no unit
  bool literal = false;         // a plain number, which goes with any unit
  bool share = false;           // a part of a whole: between 0 and 1
  std::optional<double> value;  // of a literal or a param
  bool operator==(const SqlType&) const = default;
};

// The type of a declared column: kNone and kText are no units to compare.
SqlType TypeOfColumn(std::string_view name, Type type, Unit unit);

// What `name`, `qualifier.name` or, with the qualifier ":", a parameter is. Names that the statement itself
// defines (AS) are known without asking.
using ResolveName = std::function<SqlType(std::string_view qualifier, std::string_view name)>;

struct SqlTypeProblem {
  std::string reason;
  size_t offset = 0;  // in the SQL
};

struct SqlTypes {
  SqlType result;                          // of the expression, or of the first column of the SELECT
  std::map<std::string, SqlType> columns;  // of a SELECT, by name or alias
  std::vector<SqlTypeProblem> problems;
};

// `sql` is an expression or a SELECT.
SqlTypes InferTypes(std::string_view sql, const ResolveName& resolve);

// One comparison that a condition consists of: `a > x` and `b < y` of `a > x AND NOT b < y`. Those inside of
// sub-queries and functions are not listed.
struct Comparison {
  std::string left, op, right;
  Unit unit = Unit::kNone;  // of both sides, where known to who fills it
};
std::vector<Comparison> Comparisons(std::string_view condition);

}  // namespace dladvisor
