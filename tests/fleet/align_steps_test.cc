// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/align_steps.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

StepStarts EvenSteps(int64_t first, int count) {
  StepStarts starts;
  for (int i = 0; i < count; ++i) starts.push_back(first + i * 1000);
  return starts;
}

using Shifts = std::vector<std::optional<int64_t>>;

TEST(StepShifts, StepsThatRanAtTheSameTimeGetTheSameNumber) {
  // The second capture began two steps later, the third three steps earlier; clocks differ a little.
  EXPECT_EQ(StepShifts({EvenSteps(0, 20), EvenSteps(2030, 20), EvenSteps(-3100, 20)}), (Shifts{0, 2, -3}));
}

TEST(StepShifts, ProgramsThatNumberTheirStepsAreLeftAsTheyAre) {
  EXPECT_EQ(StepShifts({{}, EvenSteps(0, 9), {}, EvenSteps(1000, 9)}), (Shifts{0, 0, 0, 1}));
}

TEST(StepShifts, StepsAtOtherTimesAreNoneOfTheirs) {
  EXPECT_EQ(StepShifts({EvenSteps(0, 10), EvenSteps(1'000'000, 10)}), (Shifts{0, std::nullopt}));
  EXPECT_EQ(StepShifts({EvenSteps(0, 10), EvenSteps(500, 10)}), (Shifts{0, std::nullopt}));
}

}  // namespace
}  // namespace dladvisor
