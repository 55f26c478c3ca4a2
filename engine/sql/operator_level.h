// SPDX-License-Identifier: Apache-2.0
// Which words of SQL are operators, how tightly they bind, and which are of a statement's clauses:
// https://sqlite.org/lang_expr.html#operators_and_parse_affecting_attributes
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace dladvisor::sql {

// Precedence, weakest first. NOT and kUnary are prefixes, the others stand behind an operand.
enum OperatorLevel {
  kNone,
  kOr,
  kAnd,
  kNot,
  kEquality,
  kOrder,
  kBits,
  kSum,
  kProduct,
  kConcatenation,
  kUnary
};

// What stands behind an operand, by level.
const std::map<OperatorLevel, std::set<std::string_view>>& Operators();

// Words that end an expression or stand between expressions of a SELECT.
bool IsClauseWord(const std::string& word);

}  // namespace dladvisor::sql
