// SPDX-License-Identifier: Apache-2.0
// dladvisor query PROFILE... SQL|RELATION [--format table|csv|json]
#pragma once

#include <cstdint>
#include <string>

#include "engine/store/database.h"
#include "src/cli/session.h"

namespace dladvisor {

// Rows of a SELECT or of the relation that `sql` names. Throws Error with the nearest known word.
ResultSet RunSql(const Database& database, const std::string& sql, size_t max_rows = SIZE_MAX);
// The full precision of values; the first line names the columns.
std::string CsvText(const ResultSet& result);
// A warning where the query reads events that the profile does not hold, or "".
std::string EventsNotHeld(const Profile& profile, const Database& database, const std::string& sql);

void AddQueryCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
