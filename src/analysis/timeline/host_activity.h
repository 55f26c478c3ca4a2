// SPDX-License-Identifier: Apache-2.0
// What a thread of the host did in a stretch of time, as one name: the innermost Python function, range, or
// call that covers most of it. Evidence for gaps, whose bucket gives the cause but not the place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

struct ThreadTime {
  uint32_t thread = kNoIndex;
  Interval time;
};

// For each stretch, the name of the shortest event of its thread that covers at least 80 % of it: a Python
// function ("video.py(129): preprocess"), a range or operator, an API call, a call of the operating system.
// Where none does, that of the ranges that do so one after the other; else "", as between two operators of a
// loop without Python stacks.
std::vector<std::string> HostActivities(const Context& context, const std::vector<ThreadTime>& stretches);

}  // namespace dladvisor
