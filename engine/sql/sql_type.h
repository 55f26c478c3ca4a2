// SPDX-License-Identifier: Apache-2.0
// The type and unit of an SQL expression, and what operations and functions make of those of their operands.
#pragma once

#include <optional>
#include <span>
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
