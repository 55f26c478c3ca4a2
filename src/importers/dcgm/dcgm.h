// SPDX-License-Identifier: Apache-2.0
// Reads telemetry of DCGM: what dcgmi dmon prints, and the text that its exporter gives to Prometheus, one
// scrape or many after each other.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

// Refuses logs of which no row can be used.
extern const Importer kDcgmImporter;

}  // namespace dladvisor
