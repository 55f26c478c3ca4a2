// SPDX-License-Identifier: Apache-2.0
// What rocprofv3 writes for Perfetto (--output-format pftrace).
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kRocprofPerfettoImporter;

}  // namespace dladvisor
