// SPDX-License-Identifier: Apache-2.0
// Reads what clients of servers save of a benchmark: an object of JSON with a result, or a line for each.
// What they print comes with the rest of the output (training_log/log_reader.h).
#pragma once

#include <vector>

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kBenchmarkLogImporter;

}  // namespace dladvisor
