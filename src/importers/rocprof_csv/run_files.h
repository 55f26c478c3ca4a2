// SPDX-License-Identifier: Apache-2.0
// Which files rocprofv3 wrote of one run: those whose names begin alike, where their times overlap.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "src/importers/rocprof_csv/csv_rows.h"

namespace dladvisor::rocprof_csv {

struct RunFile {
  std::filesystem::path path;
  Kind kind = Kind::kKernels;
};

struct RunFiles {
  std::vector<RunFile> files;
  std::vector<std::string> of_others;  // names of those whose times are of another run
};

// Of "run/7_hip_api_trace.csv" also "run/7_kernel_trace.csv" and "run/7_agent_info.csv", which have tables of
// rocprofv3.
RunFiles FilesOfRun(const std::filesystem::path& file);

// "kernel_trace" of "run/7_kernel_trace.csv", and "7" as its prefix; "" where the name is of no such table.
std::string TableOf(const std::filesystem::path& file, std::string* prefix = nullptr);

}  // namespace dladvisor::rocprof_csv
