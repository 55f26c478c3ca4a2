// SPDX-License-Identifier: Apache-2.0
// Reads a profile of any supported format. The format is found from the content, never from the name.
#pragma once

#include <filesystem>
#include <string>

#include "src/trace/trace.h"

namespace dladvisor {

// `-` is the standard input, for formats that are read in one pass. Throws Error naming the file, what is
// wrong with it and what to do. A readable profile without GPU work is not an error. `.nsys-rep` is exported
// through `nsys` when that is on PATH, into a temporary folder.
Trace ReadProfile(const std::filesystem::path& path);

// Whether a file of this name may be one: for files that nobody named.
bool MayBeReadable(const std::filesystem::path& path);
// ".sqlite, .json, ...": how files usually end.
std::string ReadableExtensions();
// "Nsight Systems export (.sqlite or .nsys-rep), trace of ...".
std::string ReadableFormats();

}  // namespace dladvisor
