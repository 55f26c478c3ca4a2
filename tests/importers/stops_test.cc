// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/stops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

// A day between two lines is of no iteration, whatever was saved before it; an evaluation may take as long.
TEST(Stops, ADayBetweenTwoStartsIsOfNoIteration) {
  const auto log = [](const char* between) {
    std::string text;
    for (int line = 0; line < 20; ++line) {
      if (line == 10) text += between;
      text += fmt::format("25-01-{} 11:{:02}:10.500 : <epoch: 0, iter: {}, lr:2e-04> G_loss: 0.005\n",
                          line < 10 ? 25 : 26, 20 + line, 200 * (line + 1));
    }
    return test::ReadLog(text).training_log;
  };
  const TrainingLog stopped = log("25-01-25 11:29:10.700 : Saving the model.\n");
  ASSERT_EQ(stopped.iterations.size(), 20u);
  EXPECT_FALSE(stopped.iterations[10].elapsed_ns);
  EXPECT_NEAR(stopped.iterations[11].elapsed_ns.value_or(0), 0.3e9, 1);
  EXPECT_TRUE(log("25-01-25 11:29:10.700 : validation loss: 0.31\n").iterations[10].elapsed_ns);
}

// Lines are of every 200 iterations, so that each start shows the same number first.
TEST(Stops, StartsThatEndBehindTheirFirstLineAreNoStandstill) {
  std::string text;
  const auto line = [&](const char* time, int iteration) {
    text += fmt::format("25-01-26 {} : <epoch: 0, iter: {}, lr:2e-04> G_loss: 0.005\n", time, iteration);
  };
  line("11:00:00.100", 200);
  line("11:00:00.101", 200);  // of another rank
  line("11:30:00.100", 200);
  for (int i = 0; i < 20; ++i) line(fmt::format("15:{:02}:00.100", i).c_str(), 200 * (i + 1));
  const TrainingLog log = test::ReadLog(text).training_log;
  ASSERT_GE(log.iterations.size(), 20u);
  const auto& rows = log.iterations;
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i].attempt == rows[i - 1].attempt && rows[i].time_ns && rows[i - 1].time_ns) {
      EXPECT_LE(*rows[i].time_ns - *rows[i - 1].time_ns, 61'000'000'000) << i;
    }
}

}  // namespace
}  // namespace dladvisor
