// SPDX-License-Identifier: Apache-2.0
// Steps that the program does not number are counted from the start of each capture, which begins somewhat
// earlier on one rank than on another. Their numbers are shifted so that steps of one number are those that
// ran at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace dladvisor {

// The steps of a profile, as UTC of their starts, in order; empty where they are numbered by the program, or
// the start of the session is not known.
using StepStarts = std::vector<int64_t>;

// By profile, what to add to its numbers: 0 for the first with steps and for those without. Of all shifts by
// which at least half of the shorter one's steps meet others, that with the least median distance of starts;
// none where even that is more than a quarter of a step.
std::vector<std::optional<int64_t>> StepShifts(const std::vector<StepStarts>& profiles);

}  // namespace dladvisor
