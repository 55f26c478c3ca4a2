// Nsight Systems SQLite exports, schema generations of 2020 to 2026. The file is opened read-only and
// immutable: nothing is written into or beside it. Tables and columns are probed, not assumed.
#pragma once

#include <filesystem>

#include "src/trace/trace.h"

namespace dladvisor {

// True where the file is a SQLite database with tables that nsys exports.
bool IsNsysExport(const std::filesystem::path& path);
// Throws Error.
Trace ReadNsysExport(const std::filesystem::path& path);

}  // namespace dladvisor
