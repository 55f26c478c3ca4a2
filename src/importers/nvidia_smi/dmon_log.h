// SPDX-License-Identifier: Apache-2.0
// Reads what nvidia-smi dmon prints: columns under two lines of names and units that come again every page,
// blanks or commas (--format csv) between them, with or without date and time (-o DT).
#pragma once

#include <string_view>

#include "src/importers/bytes/byte_source.h"
#include "src/trace/trace.h"

namespace dladvisor {

bool LooksLikeDmonLog(std::string_view head);

// Throws Error where no row can be used.
Trace ReadDmonLog(ByteSource& source);

}  // namespace dladvisor
