// The SQL functions of rules: ratio and regexp, and SQLite's own of a cost that grows with their texts, under
// the same names and with the same results. These do in linear time what SQLite's do in quadratic (like,
// glob, instr, replace, trim), and all add their work to the statement's meter: SQLite looks at the budget
// only between steps, and one call is one step.
#pragma once

#include <sqlite3.h>

#include <cstdint>

#include "engine/store/meter.h"

namespace dladvisor {

// The meter must outlive the connection.
void RegisterFunctions(sqlite3* db, Meter* meter);

// ratio, regexp and group_concat, which RegisterFunctions adds too.
void RegisterRatio(sqlite3* db);
void RegisterRegexp(sqlite3* db, Meter* meter);
void RegisterGroupConcat(sqlite3* db, Meter* meter);

constexpr int kFunctionFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

// Adds the work of going through so many bytes to the meter in the function's user data; where the budget is
// used up, ends the statement as SQLite's progress handler does.
bool Charge(sqlite3_context* context, int64_t bytes);
bool Charge(sqlite3_context* context, Meter& meter, int64_t bytes);

}  // namespace dladvisor
