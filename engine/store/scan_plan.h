// SPDX-License-Identifier: Apache-2.0
// What a relation tells SQLite's planner of a scan: which constraints it takes itself, in which order it can
// give its rows, and what that costs.
#pragma once

#include <sqlite3.h>

#include "engine/store/relation.h"

namespace dladvisor {

// Bits of sqlite3_index_info::idxNum: which bounds on the sorted column the scan receives, in this order, and
// whether to look the others up in an index. idxStr has a line for each column of which the scan receives a
// value after these, "=COLUMN", one for each that CellTest or TextTest takes, and then one for each that the
// rows are ordered by, "+COLUMN" or "-COLUMN".
struct ScanBounds {
  enum : int { kEqual = 1, kLower = 2, kUpper = 4, kIndexed = 8 };
};

// Fills what xBestIndex is to fill; SQLITE_OK or SQLITE_NOMEM.
int PlanScan(const Relation& relation, const RowEstimate& estimate, sqlite3_index_info* info);

}  // namespace dladvisor
