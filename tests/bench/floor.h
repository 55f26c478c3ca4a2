// SPDX-License-Identifier: Apache-2.0
// The least that a report of a profile has to do, done by bare programs: what ./dev bench divides by.
#pragma once

#include <cstdint>
#include <filesystem>

namespace dladvisor {

// What a floor found, so that no part of it can be left out by the compiler, and to be printed.
struct FloorResult {
  int64_t kernels = 0, launched = 0;  // launched: whose API call was found
  int64_t idle_ns = 0;                // between kernels, of all processes
  int64_t in_range = 0;               // whose call has a range around it
  int64_t in_step = 0;                // whose call lies in a step
};

// Reads the columns of kernels, API calls and ranges that our importer reads, by a connection to SQLite for
// each thread and ranges of rows, on as many threads as a report uses; joins kernels and calls, finds the
// gaps between kernels, the innermost range around each call and the step of each kernel, process by process.
FloorResult ExportFloor(const std::filesystem::path& path);

// The same of a trace as WriteChromeTrace() writes it, by simdjson.
FloorResult TraceFloor(const std::filesystem::path& path);

}  // namespace dladvisor
