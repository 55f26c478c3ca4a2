// Nsight Systems' own report files (.nsys-rep, .qdrep). Their format is NVIDIA's secret: only `nsys` reads
// them, so they are exported through it.
#pragma once

#include <filesystem>

#include "src/trace/trace.h"

namespace dladvisor {

// Exports into a temporary folder, which is removed again, and reads the export. Throws Error; where `nsys`
// is not on PATH, with the command to run elsewhere.
Trace ReadNsysReport(const std::filesystem::path& path);

}  // namespace dladvisor
