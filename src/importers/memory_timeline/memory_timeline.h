// SPDX-License-Identifier: Apache-2.0
// The timeline of memory that PyTorch's profiler writes (export_memory_timeline): bytes by category over
// time, and no time of an operator. It is refused, with what its peak holds.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kMemoryTimelineImporter;

}  // namespace dladvisor
