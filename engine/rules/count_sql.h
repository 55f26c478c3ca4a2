// SPDX-License-Identifier: Apache-2.0
// The statement that counts a rule's subjects: most rules find nothing, and to prepare a statement takes
// longer than to run it over few rows.
#pragma once

#include <string>

#include "engine/model/rule.h"

namespace dladvisor {

// True for subjects of which no condition is false.
std::string NotClearSql(const Rule& rule);

// Gives one row: the subjects, and those that are not clear. It reads the columns that decide alone: SQLite
// resolves every column of a subquery anew at each level. `subject` has the schema of the relation of `for`,
// or is null where that is a query.
std::string CountSql(const Rule& rule, const Schema* subject);

}  // namespace dladvisor
