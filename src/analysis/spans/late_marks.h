// SPDX-License-Identifier: Apache-2.0
// Ranks that are ready, as moments within the span in which one waits for all of them: Horovod marks so in
// its timeline when each rank asks for a tensor to be reduced. Who comes last again and again holds up the
// others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/trace/trace.h"

namespace dladvisor {

struct LateMarks {
  std::string span;        // what most spans with marks are called
  int64_t spans = 0;       // with marks of two numbers or more
  std::string last;        // the number that is last most often
  int64_t last_count = 0;  // how often
  double late_ns = 0;      // how much later it is than the one before it, on average of those times
  double waiting_ns = 0;   // with any of these spans on any track
};

// Marks are spans without a length that are named by a number.
std::optional<LateMarks> FindLateMarks(const Trace& trace);

}  // namespace dladvisor
