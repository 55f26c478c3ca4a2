// Reads a profile of any supported format. The format is found from the content, never from the name.
#pragma once

#include <filesystem>

#include "src/trace/trace.h"

namespace dladvisor {

// `-` is the standard input, for formats that are read in one pass. Throws Error naming the file, what is
// wrong with it and what to do. A readable profile without GPU work is no error. `.nsys-rep` is exported
// through `nsys` when that is on PATH, into a temporary folder.
Trace ReadProfile(const std::filesystem::path& path);

}  // namespace dladvisor
