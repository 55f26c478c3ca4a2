// SPDX-License-Identifier: Apache-2.0
// Telemetry of GPUs as JSON: objects by line or in an array, each of a moment, as scripts around NVML and
// Weights & Biases write them, and what gpustat, rocm-smi and amd-smi print with --json. GPUs are told apart
// by a list ("gpus": [...]), by an index among the names ("gpu0_util", "system.gpu.0.gpu", "card0"), or by an
// element that identifies them.
#pragma once

#include <string_view>

#include "src/importers/bytes/byte_source.h"
#include "src/trace/trace.h"

namespace dladvisor {

// By the names in its first bytes: when, and how busy a GPU was, and nothing of a training's steps or of what
// a benchmark measured.
bool LooksLikeGpuJson(std::string_view head);

// Throws Error where no object has such a number after all.
Trace ReadGpuJson(ByteSource& source);

}  // namespace dladvisor
