// SPDX-License-Identifier: Apache-2.0
// Databases of rocprof (results.db), which writes one beside its CSV and JSON files.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kRocprofDatabaseImporter;

}  // namespace dladvisor
