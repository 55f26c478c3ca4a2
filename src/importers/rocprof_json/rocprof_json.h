// SPDX-License-Identifier: Apache-2.0
// What rocprofv3 writes as JSON (*_results.json).
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kRocprofJsonImporter;

}  // namespace dladvisor
