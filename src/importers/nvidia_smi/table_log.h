// Reads the table that nvidia-smi prints without options, once or many times (nvidia-smi -l, watch), also
// among the lines of another log. Of a GPU it tells two lines; GPUs split by MIG have no utilisation.
#pragma once

#include <string_view>

#include "src/importers/bytes/byte_source.h"
#include "src/trace/trace.h"

namespace dladvisor {

bool LooksLikeSmiTable(std::string_view head);

// Throws Error where no GPU can be read.
Trace ReadSmiTable(ByteSource& source);

}  // namespace dladvisor
