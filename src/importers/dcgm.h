// Reads telemetry of DCGM: what dcgmi dmon prints, and the text that its exporter gives to Prometheus, one
// scrape or many after each other.
#pragma once

#include <string_view>

#include "src/importers/bytes/byte_source.h"
#include "src/trace/trace.h"

namespace dladvisor {

bool LooksLikeDcgmDmon(std::string_view head);
bool LooksLikeDcgmMetrics(std::string_view head);

// Throw Error where no row can be used.
Trace ReadDcgmDmon(ByteSource& source);
Trace ReadDcgmMetrics(ByteSource& source);

}  // namespace dladvisor
