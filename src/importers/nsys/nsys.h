// SPDX-License-Identifier: Apache-2.0
// Nsight Systems SQLite exports, schema generations of 2020 to 2026. Tables and columns are probed, not
// assumed.
#pragma once

#include "src/importers/input/importer.h"
#include "src/importers/sqlite/sqlite_reader.h"
#include "src/trace/trace.h"

namespace dladvisor {

// Takes every database that no other importer knows, and says of a strange one what it lacks.
extern const Importer kNsysImporter;

// Throws Error.
Trace ReadNsysExport(const sqlite::Database& db);

}  // namespace dladvisor
