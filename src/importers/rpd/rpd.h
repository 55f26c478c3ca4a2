// SPDX-License-Identifier: Apache-2.0
// Databases of rocmProfileData (.rpd), which rpd_tracer writes.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kRpdImporter;

}  // namespace dladvisor
