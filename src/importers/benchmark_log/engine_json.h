// SPDX-License-Identifier: Apache-2.0
// What TensorRT's trtexec saves: the times of each inference (--exportTimes) and of each layer
// (--exportProfile), as arrays of JSON.
#pragma once

#include <optional>
#include <string_view>

#include "src/trace/program_output.h"

namespace dladvisor::benchmark_log {

bool LooksLikeEngineJson(std::string_view head);
// Means of all inferences, or the layers as figures; nothing of an array without either.
std::optional<ProgramOutput> EngineOfJson(std::string_view text);

}  // namespace dladvisor::benchmark_log
