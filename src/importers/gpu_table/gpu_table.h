// SPDX-License-Identifier: Apache-2.0
// Tables of single GPU operations, as `nsys stats --report cuda_gpu_trace` writes as CSV or JSON (before 2023
// gputrace) and `nvprof --print-gpu-trace --csv`; what nvprof prints of them as text, and tables of totals by
// name as JSON of nsys stats.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kGpuTableImporter;

}  // namespace dladvisor
