// SPDX-License-Identifier: Apache-2.0
// The type and unit of an SQL expression, and what operations and functions make of those of their operands.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/value.h"

namespace dladvisor {

struct SqlType {
  std::optional<Type> type;     // nothing: not known
  std::optional<Unit> unit;     // nothing: not known, or of no unit
  bool literal = false;         // a plain number, which goes with any unit
  bool share = false;           // a part of a whole: between 0 and 1
  std::optional<double> value;  // of a literal or a param
  bool table = false;           // a text that lookup() reads
  bool operator==(const SqlType&) const = default;
};

// The type of a declared column: kNone and kText are not units that compare.
SqlType TypeOfColumn(std::string_view name, Type type, Unit unit);

SqlType Plain(Type type);  // of no unit
bool IsNumber(const SqlType& type);
// What is no condition: a text, a real number or one of a unit, or a number that is neither 0 nor 1. SQLite
// takes any number but 0 for true. A count may ask whether there is any.
bool IsNoCondition(const SqlType& type);
std::string NoCondition(const SqlType& type);  // what is said of one

// What nobody means by a literal, in its quotes, that an operator (LIKE, GLOB, =) compares with; or "". The
// wildcards of LIKE are % and _, those of GLOB *, ? and [; a pattern of the other's fits nothing.
std::string_view PatternProblem(std::string_view op, std::string_view literal);

// What both are, for results that may be either.
SqlType Common(const SqlType& a, const SqlType& b);
SqlType SumOf(const SqlType& a, const SqlType& b);
SqlType DifferenceOf(const SqlType& a, const SqlType& b);
SqlType ProductOf(const SqlType& a, const SqlType& b);
SqlType QuotientOf(const SqlType& a, const SqlType& b);  // also of a remainder

// `function` in upper case.
SqlType ResultOfFunction(std::string_view function, std::span<const SqlType> arguments);

// Of CAST(... AS name), by SQLite's rules of affinity; `name` in upper case.
std::optional<Type> TypeByName(std::string_view name);

}  // namespace dladvisor
