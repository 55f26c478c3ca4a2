// SPDX-License-Identifier: Apache-2.0
// Steps of programs that name their passes and not their steps: from each forward pass until the next one
// after a backward pass, or after an update where there are such.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "src/trace/intervals.h"

namespace dladvisor {

enum class PassKind : uint8_t { kUnknown, kNone, kForward, kBackward, kUpdate };

// What the text of a range names, e.g. "forward pass", "## optimizer ##"; kNone for what is no pass.
PassKind PassOf(std::string_view text);

// A range that may be a step: its number and where it stands.
struct StepRange {
  int64_t number;
  Interval time;
};

// The steps of one thread, numbered from 0, by its passes in order of time, which do not overlap.
std::vector<StepRange> BetweenPasses(const std::vector<std::pair<PassKind, Interval>>& passes);

}  // namespace dladvisor
