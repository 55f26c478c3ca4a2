// SPDX-License-Identifier: Apache-2.0
// What ranges say of the phases of a program: a benchmark that marks its warm-up ("warm-up", "Warmup Step 3")
// or what it measures ("measure", "benchmark forward", "timed region") wants to know of the latter alone.
//
// Of a rank counts what is launched from the first range that measures to the end of the last one, where
// these launch half of its GPU operations, or a tenth beside ranges of a warm-up; a range around a warm-up
// measures nothing, it is the whole program. Without such ranges counts what is launched after the last
// warm-up, if that is a tenth of the operations, and the warm-up launches most of what comes before. Ranges
// of operators (of the framework's own domains), of learning rates and of their schedules are none of these.
//
// A program that waits for its input for most of its time, at a prompt, is judged between two such waits.
#pragma once

#include <map>
#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

// By rank; absent where ranges say nothing.
std::map<int64_t, Phases> FindPhases(const Trace& trace, const RangeTexts& texts, const Ranks& ranks,
                                     const std::vector<GpuWork>& work, const Launches& launches);

// `work` without what phases leave out.
std::vector<GpuWork> WorkThatCounts(const Trace& trace, const Ranks& ranks, const std::vector<GpuWork>& work,
                                    const Launches& launches, const std::map<int64_t, Phases>& phases);

}  // namespace dladvisor
