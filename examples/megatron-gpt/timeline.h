// SPDX-License-Identifier: Apache-2.0
// Lays a run out in time: when the host calls what, and when the GPU does it.
#pragma once

#include <filesystem>

#include "examples/megatron-gpt/runs.h"

namespace dladvisor::example {

// Writes the run as an export of `schema`. The same run gives the same bytes. Throws Error where the file
// cannot be written.
void WriteRun(const Run& run, const std::filesystem::path& path, const NsysSchema& schema);

}  // namespace dladvisor::example
