// SPDX-License-Identifier: Apache-2.0
// What Nsight Compute's rules say below the sections: "OPT   Est. Speedup: 92.5%", and the sentences behind
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/trace/kernel_measurement.h"

namespace dladvisor::nsight_compute {

// Of a first line; nothing where the line is none.
std::optional<ProfilerMessage> MessageOf(std::string_view line);

// Adds a line that goes on.
void AddTo(ProfilerMessage& message, std::string_view line);

// What it is about, and what it says of the kernel: the busiest pipe, the peaks of FP32 and FP64, how many
// multiprocessors there are.
void TakeMessage(ProfilerMessage message, KernelMeasurement& kernel);

}  // namespace dladvisor::nsight_compute
