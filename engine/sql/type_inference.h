// SPDX-License-Identifier: Apache-2.0
// Types and units of SQL expressions, as far as their text shows them. SQLite has neither, and takes silently
// what nobody means: a division of integers, which drops the remainder, or a comparison of a number with a
// text or of bytes with nanoseconds. Only what is certain is reported; what is not understood has no type.
//
// The subset of SQL that is understood (SQLite itself has accepted the statement before):
// - expressions: literals, parameters, names, all operators with SQLite's precedence
//   (https://sqlite.org/lang_expr.html), CASE, CAST, calls with DISTINCT, FILTER and OVER, sub-queries;
// - statements: a sequence of clause words, expressions with their aliases, and commas. Of WITH, FROM,
//   GROUP BY and so on only the expressions and aliases are looked at, not what the clauses mean.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sql/sql_type.h"

namespace dladvisor {

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
