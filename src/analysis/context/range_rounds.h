// SPDX-License-Identifier: Apache-2.0
// Rounds of a loop that a program marks with ranges whose name says nothing of steps: `infer`,
// `execute_model`, `frame 12`. They enclose all that repeats, so that no range that repeats encloses them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/context/passes.h"
#include "src/analysis/context/range_text.h"
#include "src/trace/trace.h"

namespace dladvisor {

struct RangeRounds {
  uint32_t thread;
  std::string pattern;  // the text, with the number replaced by #
  std::vector<StepRange> ranges;
};

// Of each thread the ranges of one text, at least five that do not overlap, which no others that repeat
// enclose. Ranges of libraries, of operators and of parts that repeat within a round, such as layers, are
// none; nor are those of what holds many rounds, such as epochs.
std::vector<RangeRounds> FindRangeRounds(const Trace& trace, const RangeTexts& texts);

// Whether several of so many sequences of kernels are in each of the rounds, and the host waits for the
// rounds and not for the sequences: these are parts of them, as layers are.
bool HoldSeveral(const RangeRounds& rounds, size_t sequences, const Trace& trace);

}  // namespace dladvisor
