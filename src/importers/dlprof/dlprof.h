// SPDX-License-Identifier: Apache-2.0
// DLProf's own databases (dlprof_dldb.sqlite, DLProf 1.x): kernels, copies, sets and CUDA calls with their
// times, calls of ops, iterations and the system. They have no streams, registers or shared memory, no kinds
// of host memory, and do not record which function launched a kernel; calls of ops become ranges in the form
// of the markers that DLProf made them from.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kDlprofImporter;

}  // namespace dladvisor
