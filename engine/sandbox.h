// What SQL of rules and queries may do: read declared relations with a list of functions, and nothing else.
#pragma once

#include <sqlite3.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace dladvisor {

// Functions that SQL may call, sorted: deterministic, blind to files, the clock and randomness, and of a cost
// that the limits bound (which rules out printf and format: their width is a loop).
const std::vector<std::string>& AllowedFunctions();

// Adds ratio() and regexp() to the connection.
void RegisterFunctions(sqlite3* db);

// Double-quoted strings off, defensive mode, and limits on length, depth, patterns and size.
void Harden(sqlite3* db);

}  // namespace dladvisor
