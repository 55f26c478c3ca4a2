// SPDX-License-Identifier: Apache-2.0
// What SQL of rules and queries may do: read declared relations with a list of functions, and nothing else.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor {

// Functions that SQL may call, sorted: deterministic, blind to files, the clock and randomness, and of a cost
// that the limits bound (which rules out printf and format: their width is a loop).
const std::vector<std::string>& AllowedFunctions();

// SQLite nests its own calls as deeply as expressions of nested SELECTs add up when it unfolds them: it
// checks the depth of each one only. Says why a statement has too many.
std::optional<std::string> WhyTooLarge(std::string_view sql);

// Double-quoted strings off, defensive mode, and limits on length, depth, patterns and size.
void Harden(sqlite3* db);

}  // namespace dladvisor
