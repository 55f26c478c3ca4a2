// SPDX-License-Identifier: Apache-2.0
// Device memory, page faults of unified memory and hardware counters over time (nsys --cuda-memory-usage,
// --cuda-um-gpu-page-faults, --cuda-um-cpu-page-faults, --gpu-metrics-devices).
#pragma once

#include "src/importers/nsys/import_context.h"

namespace dladvisor::nsys {

void ReadMeasurements(Context& context);

}  // namespace dladvisor::nsys
