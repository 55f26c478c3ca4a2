// SPDX-License-Identifier: Apache-2.0
// Chrome traces that XLA's profiler writes for JAX and TensorFlow (*.trace.json.gz beside *.xplane.pb).
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kXlaImporter;

}  // namespace dladvisor
