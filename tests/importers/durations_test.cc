// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/lines/durations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "src/importers/training_log/steps/epoch_times.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using training_log::EvaluationBesideTraining;
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

TEST(Durations, OfEvaluationsBesideTheTraining) {
  EXPECT_EQ(EvaluationBesideTraining("Epoch 3/40 train time 1h 5m 30s val time 2m 10s"), 130);
  EXPECT_EQ(EvaluationBesideTraining("Epoch 3 train_time: 51.5s val_loss: 2.1 val_time: 30.25s"), 30.25);
  EXPECT_EQ(EvaluationBesideTraining("train took 500 ms | eval took 250 ms"), 0.25);
  EXPECT_EQ(EvaluationBesideTraining("Epoch 3 time 80 s, val time 30 s"), std::nullopt);  // it may be within
  EXPECT_EQ(EvaluationBesideTraining("Epoch 3 train time 80 s, val loss 30"), std::nullopt);
}

TEST(Durations, OfEvaluationsOnLinesOfTheirOwn) {
  std::string text;
  for (int epoch = 1; epoch <= 8; ++epoch)
    text += fmt::format(
        "2026-03-02 10:00:00 INFO Epoch {}: train loss=0.5, took 50.0s\n"
        "2026-03-02 10:00:00 INFO Validation: loss=0.6, took 30.0s\n",
        epoch);
  const TrainingLog log = test::ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 8u);
  EXPECT_EQ(log.evaluations, 8);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 240e9);
  for (const char* line : {"Validation: loss 0.6, epoch time 80 s", "Validation 3/20 took 2.0 s",
                           "Val loss 0.6", "evaluated batch 3 in 2.5 s", "Training took 80 s, val loss 0.6"})
    EXPECT_EQ(training_log::TimeOfEvaluationLine(line), std::nullopt) << line;
}

TEST(Durations, OfEvaluationsAreCountedWithTheirEpochs) {
  const TrainingLog log = test::ReadTrainingLog(test::LinesOf(1, 8, 1, [](int epoch) {
    return fmt::format("Epoch {}/8 | train loss 0.5 | val loss 0.6 | train time 50.0s | val time 30.0s",
                       epoch);
  }));
  ASSERT_EQ(log.iterations.size(), 8u);
  EXPECT_EQ(log.evaluations, 8);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 240e9);
}

}  // namespace
}  // namespace dladvisor
