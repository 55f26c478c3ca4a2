// SPDX-License-Identifier: Apache-2.0
// Steps of programs that name none: where the kernels of a GPU repeat as a sequence, each repetition is one.
// The criteria are in step_detection.h.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

using StepsByRank = std::vector<std::pair<int64_t, std::vector<Step>>>;  // as Steps::by_rank

// Of each rank, from the first of its GPUs whose kernels repeat; without warm-up marked.
StepsByRank StepsFromKernels(const Trace& trace, const Ranks& ranks, const std::vector<GpuWork>& work,
                             const Launches& launches);

}  // namespace dladvisor
