// SPDX-License-Identifier: Apache-2.0
// Databases of nvprof (nvprof -o run.nvprof PROGRAM) and of the Visual Profiler (.nvvp), which use one
// schema.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kNvprofImporter;

}  // namespace dladvisor
