// What type and unit the operations and functions of SQL give (sql_types.h).
#pragma once

#include <string>
#include <vector>

#include "engine/sql/sql_types.h"

namespace dladvisor {

SqlType Plain(Type type);  // of no unit
bool IsNumber(const SqlType& type);

// What both are, for results that may be either.
SqlType Common(const SqlType& a, const SqlType& b);
SqlType SumOf(const SqlType& a, const SqlType& b);  // also of a difference
SqlType ProductOf(const SqlType& a, const SqlType& b);
SqlType QuotientOf(const SqlType& a, const SqlType& b);  // also of a remainder

// `function` in upper case.
SqlType ResultOfFunction(const std::string& function, const std::vector<SqlType>& arguments);

}  // namespace dladvisor
