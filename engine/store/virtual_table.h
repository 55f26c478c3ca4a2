// SPDX-License-Identifier: Apache-2.0
// The one SQLite module behind every relation: reads cells where they lie, pushes equality and range
// constraints on the relation's sorted column down as a binary search.
#pragma once

#include <sqlite3.h>

#include "engine/store/catalog.h"

namespace dladvisor {

inline constexpr const char* kRelationModule = "relation";

// Registers the module on the connection; `CREATE VIRTUAL TABLE temp.x USING relation` then reads
// `(*relations)["x"]`. `relations` must outlive the connection.
int RegisterRelationModule(sqlite3* db, const RelationMap* relations);

}  // namespace dladvisor
