// SPDX-License-Identifier: Apache-2.0
// Databases of rocpd, which rocprofv3 writes by default since ROCm 7 (*_results.db).
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kRocpdImporter;

}  // namespace dladvisor
