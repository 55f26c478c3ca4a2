// SPDX-License-Identifier: Apache-2.0
// How long the program itself ran: calls of CUDA show when it used the GPU, which may be a small part of
// that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

// Of each process whether it is of the program: those that call CUDA; where none does, those that call the
// operating system, and else the one that was sampled most.
std::vector<uint8_t> ProgramProcesses(const Trace& trace);

// From the first to the last that is known of these processes, calls of the operating system, samples and
// turns on a CPU included; nullopt where the profile holds none of these three.
std::optional<Interval> ProgramDuration(const Context& context);

// From the first call of CUDA or GPU operation to the last one's end; nullopt without any.
std::optional<Interval> GpuSpan(const Trace& trace);
// From the first GPU operation to the last one's end.
std::optional<Interval> GpuWorkSpan(const Trace& trace);

}  // namespace dladvisor
