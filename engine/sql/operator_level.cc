// SPDX-License-Identifier: Apache-2.0
#include "engine/sql/operator_level.h"

namespace dladvisor::sql {

const std::map<OperatorLevel, std::set<std::string_view>>& Operators() {
  static const std::map<OperatorLevel, std::set<std::string_view>> operators = {
      {kOr, {"OR"}},
      {kAnd, {"AND"}},
      {kEquality,
       {"=", "==", "<>", "!=", "IS", "BETWEEN", "IN", "LIKE", "GLOB", "REGEXP", "MATCH", "ISNULL",
        "NOTNULL"}},
      {kOrder, {"<", "<=", ">", ">="}},
      {kBits, {"&", "|", "<<", ">>"}},
      {kSum, {"+", "-"}},
      {kProduct, {"*", "/", "%"}},
      {kConcatenation, {"||", "->", "->>"}}};
  return operators;
}

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

}  // namespace dladvisor::sql
