// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/lines/durations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using training_log::InSeconds;

// Of the last of twenty lines.
double SecondsOf(const char* format) {
  std::string text;
  for (int i = 1; i <= 20; ++i) text += fmt::format(fmt::runtime(format), i) + "\n";
  const TrainingLog log = test::ReadLog(text).training_log;
  return log.iterations.empty() ? -1 : log.iterations.back().elapsed_ns.value_or(0) / 1e9;
}

TEST(Durations, OfSeveralUnits) {
  EXPECT_EQ(InSeconds("took 1h 5m 30s, loss 1"), "took 3930 s, loss 1");
  EXPECT_EQ(InSeconds("time 2 min 5 sec"), "time 125 s");
  EXPECT_EQ(InSeconds("time 2 minutes and 5.5 seconds"), "time 125.5 s");
  EXPECT_EQ(InSeconds("took 2h 3m"), "took 7380 s");
  EXPECT_EQ(InSeconds("in 1.5 hours, 3 s"), "in 5400 s, 3 s");
}

TEST(Durations, OtherTimesStayAsTheyAre) {
  for (const char* line :
       {"elapsed 3 min 0.25 s/it", "time 12 ms", "time left: 1h 5m 30s", "eta 2 min 5 sec", "3m params 12 s",
        "took 75 min", "12:05:30", "loss 0.5 val time 12 s", "training and validation took 12 s in all"})
    EXPECT_EQ(InSeconds(line), "") << line;
}

TEST(Durations, OfEpochsAndStepsBesideEvaluations) {
  EXPECT_DOUBLE_EQ(SecondsOf("Epoch [{}/40] loss 0.3 train time 1h 5m 30s val time 2m 10s"), 3930);
  EXPECT_DOUBLE_EQ(SecondsOf("Epoch {} finished in 1.5 hours, eval took 10 minutes, loss 0.3"), 5400);
  EXPECT_DOUBLE_EQ(SecondsOf("step {} loss 1.2 time 2 min 5 sec"), 125);
  EXPECT_DOUBLE_EQ(SecondsOf("Epoch {} loss 0.3 epoch time: 1h 11m 1s"), 4261);
}

}  // namespace
}  // namespace dladvisor
