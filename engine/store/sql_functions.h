// SPDX-License-Identifier: Apache-2.0
// The SQL functions that SQLite lacks: ratio(a, b) and regexp(pattern, text).
#pragma once

#include <sqlite3.h>

namespace dladvisor {

void RegisterFunctions(sqlite3* db);

}  // namespace dladvisor
