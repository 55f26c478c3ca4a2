// SPDX-License-Identifier: Apache-2.0
// Times that lines print one after another: whether they are those of a clock that runs on, or what each
// line's own work took.
#pragma once

#include <span>
#include <vector>

namespace dladvisor::training_log {

// Times of one run in their order, after equal numbers of steps.
using TimesOfRun = std::vector<double>;

// Whether each is later than the one before, and no other explanation is as good. Work that takes longer and
// longer also grows, by much less than it takes, and not with every line: its times have a noise of their
// own, which a clock does not have, whose differences vary instead.
bool GrowsAsClock(std::span<const TimesOfRun> runs);

}  // namespace dladvisor::training_log
