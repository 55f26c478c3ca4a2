// SPDX-License-Identifier: Apache-2.0
// Lines of steps of no known program, by the names and units of their values.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;
using testing::HasSubstr;

TEST(GeneralLines, TimeAndLoadingWithTheirMeans) {
  const TrainingLog log = ReadTrainingLog(LinesOf(20, 200, 20, [](int step) {
    return fmt::format(
        "2019-07-23 05:50:47,251 trainer INFO: eta: 8:42:56  iter: {}  loss: 1.2 (1.7)  time: 0.75 (0.69)  "
        "data: 0.25 (0.3)  lr: 0.0001  max mem: 2942",
        step);
  }));
  EXPECT_EQ(log.program, "a program that prints steps");
  ASSERT_EQ(log.iterations.size(), 10u);
  EXPECT_EQ(log.iterations[1].iteration, 40);
  EXPECT_EQ(log.iterations[1].covers, 20);
  ExpectSeconds(log, 1, 0.75);
  ASSERT_EQ(log.timers.size(), 10u);
  EXPECT_EQ(log.timers[0].name, "data");
  EXPECT_NEAR(*log.timers[0].ns, 0.25e9, 1);
}

TEST(GeneralLines, ThePeakThatALineCounts) {
  const TrainingLog log = ReadTrainingLog(LinesOf(10, 100, 10, [](int step) {
    return fmt::format("step {:5} | loss 3.5 | lr 1.0e-04 | 37.0k tok/s | mfu 37.50%", step);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ASSERT_TRUE(log.iterations[4].mfu);
  EXPECT_DOUBLE_EQ(*log.iterations[4].mfu, 0.375);
}

TEST(GeneralLines, TimesInBracketsWithWhatTheyAreOfBehindThem) {
  const TrainingLog log = ReadTrainingLog(LinesOf(10, 100, 10, [](int step) {
    return fmt::format("[{}/2000] loss: 2.1 (0.305 sec/batch, 0.205 sec data)", step);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 4, 0.305);
  ASSERT_EQ(log.timers.size(), 10u);
  EXPECT_NEAR(*log.timers[4].ns, 0.205e9, 1);
}

TEST(GeneralLines, PartsAddUpWhereNoTimeIsOfTheWhole) {
  const TrainingLog log = ReadTrainingLog(LinesOf(10, 100, 10, [](int step) {
    return fmt::format("ep 0 it {} | loss 2.1 | fwd 0.125s bwd 0.25s data 0.5s opt 0.0625s", step);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 4, 0.9375);
  std::vector<std::string> timers;
  for (const TrainingTimer& timer : log.timers)
    if (timer.row == 4) timers.push_back(timer.name);
  EXPECT_THAT(timers, testing::UnorderedElementsAre("forward", "backward", "optimizer", "data"));
}

TEST(GeneralLines, TheInputBesideTheStepByManyNames) {
  const struct {
    const char* line;
    double step, input;
  } kCases[] = {
      {"Epoch 3 Iter {}/1000 Loss 1.2 Time/iter 0.500 Data/iter 0.250", 0.5, 0.25},
      {"epoch:3 step:{} loss:1.2 cost:0.500s reader:0.250s", 0.5, 0.25},
      {"{}/1000, loss=1.2, avg_time_per_iter=0.500s, load=0.250s", 0.5, 0.25},
      {"epoch 0 | step {} | loss 1.2 | data 250ms | h2d 10ms | compute 225ms | total 500ms", 0.5, 0.25},
      {"batch {}/500: wait 0.250 s, train 0.125 s, loss 1.2", 0.375, 0.25},
  };
  for (const auto& [line, step, input] : kCases) {
    const TrainingLog log = ReadTrainingLog(
        LinesOf(10, 100, 10, [&](int number) { return fmt::format(fmt::runtime(line), number); }));
    ASSERT_EQ(log.iterations.size(), 10u) << line;
    ExpectSeconds(log, 4, step);
    const auto data = std::ranges::find(log.timers, "data", &TrainingTimer::name);
    ASSERT_NE(data, log.timers.end()) << line;
    EXPECT_NEAR(*data->ns, input * 1e9, 1) << line;
  }
}

// As OpenPCDet prints them: epochs of all, then steps of the epoch.
TEST(GeneralLines, EpochsOfAllBeforeStepsInBrackets) {
  std::string text;
  for (int step = 0; step < 500; step += 50)
    text += fmt::format(
        "2024-08-16 15:36:30,770   INFO  Train:    1/20 (  5%) [{:4}/500 (  3%)]  Loss: 3.5 (1.3)  LR: 3e-05 "
        " "
        "Time cost: 02:28/1:33:18 [03:52/31:52:05]  Acc_iter {}          Data time: 0.25(0.49)  Forward "
        "time: "
        "1.25(2.51)  Batch time: 1.50(3.00)\n",
        step, step);
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 10u);
  EXPECT_EQ(log.iterations[4].covers, 50);
  ExpectSeconds(log, 4, 1.5);
  EXPECT_NEAR(*std::ranges::find(log.timers, "data", &TrainingTimer::name)->ns, 0.25e9, 1);
}

// A clock of what is left tells nothing of what passed.
TEST(GeneralLines, TimeThatRemainsBesideTimeThatPassed) {
  const TrainingLog log = ReadTrainingLog(LinesOf(10, 200, 10, [](int step) {
    return fmt::format(
        R"({{"current_steps": {}, "loss": 0.5, "elapsed_time": "0:{:02}:00", "remaining_time": "5:{:02}:00"}})",
        step, step / 10, 59 - step / 5);
  }));
  ASSERT_EQ(log.iterations.size(), 20u);
  ExpectSeconds(log, 5, 6);
}

// One of them falls behind; each is a writer of the same file.
TEST(GeneralLines, TwoProcessesThatWriteByTurns) {
  const auto line = [](int step, int seconds) {
    return fmt::format(
        "{{\"current_steps\": {}, \"loss\": 0.5, \"lr\": 1e-05, \"elapsed_time\": \"0:{:02}:{:02}\"}}\n",
        step, seconds / 60, seconds % 60);
  };
  std::string text;
  for (int i = 1; i <= 24; ++i)
    text += line(10 * i, 100 * i) + (i > 2 ? line(10 * (i - 2), 100 * i + 2) : "");
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_FALSE(log.iterations.empty());
  EXPECT_EQ(log.iterations.back().attempt, 0);
  EXPECT_EQ(log.iterations.size(), 24u);
  for (size_t i = 1; i < 24; ++i) ExpectSeconds(log, i, 10);
}

// 59 steps of 350 s are not done in 20 s.
TEST(GeneralLines, ATimeWithoutAUnitIsNoSecondWhereWhatIsLeftContradictsIt) {
  const auto log = [](double each) {
    return ReadTrainingLog(LinesOf(1, 60, 1, [&](int step) {
      const int left = static_cast<int>((60 - step) * each);
      return fmt::format("[{}/60] loss=1.0 time=350 (avg 351) data=12.5 eta=0:{:02}:{:02}", step, left / 60,
                         left % 60);
    }));
  };
  ExpectSeconds(log(0.35), 5, 0.35);
  ASSERT_FALSE(log(0.35).timers.empty());
  EXPECT_NEAR(*log(0.35).timers[0].ns, 0.0125e9, 1);
  for (const TrainingIteration& row : log(5).iterations) EXPECT_FALSE(row.elapsed_ns);
}

TEST(GeneralLines, AClockWithoutADateTellsWhatPasses) {
  const TrainingLog log = ReadTrainingLog(LinesOf(10, 300, 10, [](int step) {
    const int seconds = (86'340 + 3 * step) % 86'400;  // over midnight
    return fmt::format("[{:02}:{:02}:{:02}] Batch {}/312500 | Loss: 9.5 | ETA: 94.3h", seconds / 3600,
                       seconds / 60 % 60, seconds % 60, step);
  }));
  ASSERT_EQ(log.iterations.size(), 30u);
  for (size_t i = 1; i < log.iterations.size(); ++i) ExpectSeconds(log, i, 3);
}

TEST(GeneralLines, ThatPlaySaySo) {
  const auto plays = [](const char* form) {
    return ReadTrainingLog(LinesOf(1, 30, 1, [&](int step) { return fmt::format(fmt::runtime(form), step); }))
        .settings.contains("plays");
  };
  EXPECT_TRUE(plays("[step={}] episode=880 return=-115.7 length=5 loss=64.9 time 0.25 s/step"));
  EXPECT_FALSE(plays("[step={}] loss=64.9 time 0.25 s/step"));
}

TEST(GeneralLines, ARateForEachGpuKeepsItsThousand) {
  const TrainingLog log = ReadTrainingLog(LinesOf(
      0, 20, 1, [](int step) { return fmt::format("step {} loss 3.0 tok/s 12.5k/gpu lr 1e-4", step); }));
  ASSERT_GT(log.iterations.size(), 10u);
  EXPECT_DOUBLE_EQ(log.iterations[3].tokens_per_second.value_or(0), 12500);
}

TEST(GeneralLines, UnitsTellWhatAValueIs) {
  ExpectSeconds(ReadTrainingLog(LinesOf(0, 500, 50,
                                        [](int step) {
                                          return fmt::format(
                                              "[{:06}/50000] loss 0.04 | GPU 98% | 4.00 it/s | ETA 254.0 min",
                                              step);
                                        })),
                3, 0.25);
  ExpectSeconds(ReadTrainingLog(LinesOf(0, 500, 50,
                                        [](int step) {
                                          return fmt::format(
                                              "| epoch 1 | {}/2983 batches | ms/batch 20.5 | loss 5.1", step);
                                        })),
                3, 0.0205);
  const TrainingLog log = ReadTrainingLog(LinesOf(20, 400, 20, [](int step) {
    return fmt::format("Epoch[3] Batch [{}]\tSpeed: 36.22 samples/sec\tTrain-Acc=0.7", step);
  }));
  ASSERT_EQ(log.iterations.size(), 20u);
  EXPECT_EQ(log.iterations[2].samples_per_second, 36.22);
  EXPECT_FALSE(log.iterations[2].elapsed_ns) << "the size of a batch is not known";
}

// Without a date on its lines a log may tell what its epochs took: 50 steps of a second and a half, ten
// apart.
TEST(GeneralLines, AUnitInTheNameOfAColumn) {
  const TrainingLog log =
      ReadTrainingLog("step,batch,lr,loss,ms_per_step\n" + LinesOf(10, 200, 10, [](int step) {
                        return fmt::format("{},1,2.0e-6,5.25,45.2", step);
                      }));
  ASSERT_EQ(log.iterations.size(), 20u);
  ExpectSeconds(log, 5, 0.0452);
}

// A mean since the epoch began starts with its first step, which waits for the workers.
TEST(GeneralLines, AnEpochsFirstStepTellsNothingOfTheInputBeforeIt) {
  std::string text;
  for (int epoch = 0, step = 0; epoch < 4; ++epoch)
    for (int line = 0; line < 4; ++line, step += 100)
      text += fmt::format("2024-07-25 11:{:02}:{:02}.500 Epoch: {} iter: {}, loss: 0.5, data time: {} s\n",
                          10 + step / 3000, step / 50 % 60, epoch, step, line == 0 ? "0.015" : "0.001");
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_FALSE(log.timers.empty());
  for (const TrainingTimer& timer : log.timers) EXPECT_LT(*timer.ns, 0.01e9);
}

TEST(GeneralLines, LossesOfAnyName) {
  for (const char* name : {"diceloss", "loss_ce", "train/loss", "total_loss", "Train Loss"}) {
    const TrainingLog log = ReadTrainingLog(LinesOf(1, 20, 1, [&](int step) {
      return fmt::format("2024-05-01 12:00:{:02}.500 Step {}, {}: 0.5", step, step, name);
    }));
    ASSERT_EQ(log.iterations.size(), 20u) << name;
    ExpectSeconds(log, 5, 1);
    EXPECT_EQ(log.iterations[5].loss, 0.5) << name;
  }
}

TEST(GeneralLines, EpochsTellWhatATimeIsOf) {
  const auto text = [](double of_step, double of_epoch) {
    std::string lines;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (int step = 0; step < 50; step += 10)
        lines += fmt::format("Epoch {} | Step {}/50 | Loss: 0.55 | LR: 2.1e-04 | Time: {:.3f}s\n", epoch,
                             step, of_step);
      lines += fmt::format("Epoch {} completed in {:.2f}s | Avg Loss: 0.6\n", epoch, of_epoch);
    }
    return ReadTrainingLog(lines);
  };
  const TrainingLog single = text(1.5, 82);
  EXPECT_FALSE(single.of_epochs);
  ASSERT_EQ(single.iterations.size(), 10u);
  ExpectSeconds(single, 3, 1.5);
  ExpectSeconds(text(15, 82), 3, 1.5);
  EXPECT_TRUE(text(1.5, 3000).of_epochs) << "neither fits";
}

// A validation, and what is saved behind it, by the dates of their lines.
TEST(GeneralLines, EventsTakeTheTimeBeforeTheirLines) {
  std::string text;
  for (int step = 1; step <= 8; ++step) {
    text += fmt::format("2026-02-13 16:{:02}:00,100 - INFO - Step {} | Loss: 0.0055\n", 2 * step, step);
    if (step == 4)
      text +=
          "2026-02-13 16:09:20,100 - INFO - Validation loss: 0.0165\n"
          "2026-02-13 16:09:21,100 - INFO - Saved checkpoint to step_4.pt\n"
          "2026-02-13 16:09:23,100 - INFO - Saved best model to best.pt\n";
  }
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].kind, TrainingEventKind::kEvaluation);
  EXPECT_DOUBLE_EQ(log.events[0].ns.value_or(0), 80e9);
  EXPECT_EQ(log.events[1].kind, TrainingEventKind::kCheckpoint);
  EXPECT_DOUBLE_EQ(log.events[1].ns.value_or(0), 3e9);
}

// A log may begin within an epoch, whose time counts from its start.
TEST(GeneralLines, TimeSinceTheEpochBegan) {
  std::string text;
  for (int batch = 600; batch <= 2600; batch += 10)
    text += fmt::format("Epoch:  {} | Batch:  {}/ 1000 | LR: 2.97e-04 |Loss: 4.6069 | Time: {:.1f}s\n",
                        16 + (batch - 1) / 1000, (batch - 1) % 1000 + 1, 0.3 * ((batch - 1) % 1000 + 1));
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_GT(log.iterations.size(), 100u);
  ExpectSeconds(log, 10, 0.3);
  ExpectSeconds(log, 100, 0.3);
}

// "iteration" counts the rounds whose steps have a total.
TEST(GeneralLines, RoundsOfStepsAreEpochs) {
  std::string text;
  int second = 0;
  for (int round = 7; round <= 9; ++round)
    for (int step = 1; step <= 501; step += 100, second += 20)
      text += fmt::format(
          "2018-08-17 16:{:02}:{:02},056 - train.log - INFO - iteration:{} step:{}/600, NER loss: 0.89\n",
          second / 60, second % 60, round, step);
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 18u);
  EXPECT_EQ(log.iterations.back().attempt, 0);
  EXPECT_EQ(log.iterations[7].covers, 100);
  ExpectSeconds(log, 7, 0.2);
}

// "Time" falls from an epoch's first line on: the mean of all of its iterations.
TEST(GeneralLines, MeanOfAnEpochCoversIt) {
  std::string text;
  for (int epoch = 1; epoch <= 4; ++epoch)
    for (int iter = 0; iter < 100; iter += 10)
      text += fmt::format("Epoch: [{}/520] Iter:[{}/100], Time: {:.2f}, lr: [0.018], Loss: 1.59, Acc:0.64\n",
                          epoch, iter, 0.4 + 5.0 / (iter + 1));
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 4u);
  EXPECT_EQ(log.iterations[2].covers, 100);
}

// Lines of a validation's own batches are its time.
TEST(GeneralLines, BatchesOfAValidationAreAnEvaluation) {
  std::string text;
  int second = 0;
  const auto line = [&](const std::string& words, int took) {
    second += took;
    text += fmt::format("2018-01-27 10:{:02}:{:02},165 INFO    : {}\n", second / 60, second % 60, words);
  };
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (int batch = 200; batch <= 1600; batch += 200)
      line(fmt::format("train --- Current batch:{}/1600  loss:[ 0.59]", batch), 30);
    line("Save module: train_state.pth", 0);
    line("val --- Current batch:200/400  loss:[ 0.46]", 10);
    line("val --- Current batch:400/400  loss:[ 0.59]", 10);
    line("Save module: val_state.pth", 0);
  }
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 32u);
  ASSERT_GE(log.events.size(), 2u);
  const auto evaluation = std::ranges::find(log.events, TrainingEventKind::kEvaluation, &TrainingEvent::kind);
  ASSERT_NE(evaluation, log.events.end());
  EXPECT_EQ(evaluation->before, 8u);
  EXPECT_DOUBLE_EQ(evaluation->ns.value_or(0), 20e9);
}

// "step 201/1000" and then "step 1/1000": of epochs each is gone through, but for the last lines.
TEST(GeneralLines, StepsThatBeginAnewBeforeTheyAreThroughAreOfAnotherStart) {
  const auto steps = [](int last) {
    return LinesOf(20, last, 20,
                   [](int step) { return fmt::format("step {}/1000 loss 2.5 lr 0.1, 250 ms/step", step); });
  };
  const TrainingLog starts = ReadTrainingLog(steps(200) + steps(300));
  ASSERT_EQ(starts.iterations.size(), 25u);
  EXPECT_EQ(starts.iterations[10].attempt, 1);
  EXPECT_EQ(starts.iterations[24].iteration, 300);
  const TrainingLog epochs = ReadTrainingLog(steps(980) + steps(300));
  ASSERT_EQ(epochs.iterations.size(), 64u);
  EXPECT_EQ(epochs.iterations[63].attempt, 0);
  EXPECT_EQ(epochs.iterations[63].iteration, 1300);
}

// At the end of a line it is of the next iteration where one stands before the first, else of its own.
TEST(GeneralLines, TimersAtTheEndsOfLines) {
  const auto line = [](int i) {
    return fmt::format("iter {} || Loss: {:.4f} || timer: {:.4f} sec.", i, 20.0 - i * 0.01, 0.2 + i * 0.001);
  };
  const TrainingLog leads = ReadTrainingLog("timer: 7.9134 sec.\n" + LinesOf(0, 100, 10, line));
  ASSERT_EQ(leads.iterations.size(), 11u);
  ExpectSeconds(leads, 0, 7.9134);
  ExpectSeconds(leads, 5, 0.24);
  const TrainingLog own = ReadTrainingLog(LinesOf(0, 100, 10, line));
  ASSERT_EQ(own.iterations.size(), 11u);
  ExpectSeconds(own, 5, 0.25);
}

// "timer: 0.67 sec." before the line of its iteration, of SSD and what is built on it.
TEST(GeneralLines, TimerBeforeItsIteration) {
  const TrainingLog log = ReadTrainingLog(LinesOf(10, 100, 10, [](int step) {
    return fmt::format(
        "Timer: 0.6700{}\nepoch:1 || iter:{} || Loss:5.2686\n->> conf loss:1.7548\n->>lr:0.0005",
        step % 20 == 0 ? " sec." : "", step);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 5, 0.67);
}

TEST(GeneralLines, TensorFlowsEstimator) {
  const TrainingLog log = ReadTrainingLog(LinesOf(100, 1000, 100, [](int step) {
    return fmt::format(
        "INFO:tensorflow:global_step/sec: 4.0\nINFO:tensorflow:loss = 1.25, step = {} (25.000 sec)", step);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 2, 0.25);
}

TEST(GeneralLines, ATimeThatGrowsIsOfTheRun) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 60, 1, [](int print) {
    const int epoch = (print - 1) / 4, step = (print - 1) % 4 * 25 + 25;
    return fmt::format("Epoch {}, Step {}, total used time {:.4f} (s), avg loss so far is 0.1", epoch, step,
                       7.0 * print);
  }));
  ASSERT_EQ(log.iterations.size(), 60u);
  EXPECT_EQ(log.iterations.back().iteration, 1500);
  ExpectSeconds(log, 1, 0.28);
}

TEST(GeneralLines, WholeSecondsAreJoined) {
  const TrainingLog log = ReadTrainingLog(LinesOf(50, 1000, 50, [](int step) {
    return fmt::format("Step {}/100000; acc:  12.00; ppl: 26.87; lr: 1.0; 11270/8704 tok/s;      {} sec",
                       step, step * 7 / 100);
  }));
  ASSERT_GE(log.iterations.size(), 2u);
  for (size_t i = 1; i < log.iterations.size(); ++i) ExpectSeconds(log, i, 0.07);
  EXPECT_EQ(log.iterations[0].tokens_per_second, 11270 + 8704);
}

TEST(GeneralLines, AMeanOfTheEpochIsReadAtItsEnd) {
  std::string text;
  for (int epoch = 0; epoch < 8; ++epoch)
    for (int step = 0; step < 500; step += 100)
      text += fmt::format("Epoch: [{}/100] Iter:[{}/500], Time: {:.2f}, lr: [0.01], Loss: 1.5\n", epoch, step,
                          (4.5 + 0.3 * step) / (step + 1));
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 8u);
  ExpectSeconds(log, 3, 0.31);
}

TEST(GeneralLines, ATimeOfUnknownMeaningIsNone) {
  const TrainingLog log = ReadTrainingLog(LinesOf(0, 500, 10, [](int step) {
    return fmt::format("Epoch 0 | Step {}/6501 | Loss: 8.9 | Time: 0.5s", step);
  }));
  for (const TrainingIteration& row : log.iterations) EXPECT_FALSE(row.elapsed_ns);
}

TEST(GeneralLines, TheTimesOfLinesDecide) {
  const auto line = [](int step, const char* time) {
    return fmt::format("2024-05-01 12:{:02}:{:02},500 step {} | loss 2.1 | time {}", step / 10 * 30 / 60,
                       step / 10 * 30 % 60, step, time);
  };
  ExpectSeconds(ReadTrainingLog(LinesOf(10, 200, 10, [&](int step) { return line(step, "3.0 s"); })), 2, 3);
  ExpectSeconds(ReadTrainingLog(LinesOf(10, 200, 10, [&](int step) { return line(step, "30.0 s"); })), 2, 3);
}

TEST(GeneralLines, ValidationsBetweenSteps) {
  std::string text;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int step = 10; step <= 40; step += 10)
      text +=
          fmt::format("epoch {} step {} loss 0.5 time {:.1f} s elapsed\n", epoch, step, epoch * 50.0 + step);
    text += fmt::format("Epoch {}, val loss is 0.04, val mse is 0.02.\n", epoch);
  }
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_FALSE(log.events.empty());
  EXPECT_EQ(log.events[0].kind, TrainingEventKind::kEvaluation);
  EXPECT_EQ(log.events[0].before, 4u);
}

TEST(GeneralLines, LinesOfOtherProgramsAreNone) {
  EXPECT_THROW(ReadTrainingLog(LinesOf(
                   1, 100, 1, [](int step) { return fmt::format("step {} copied 5 files, 3.2 s", step); })),
               Error);
}

TEST(GeneralLines, EpochsOfAllAndStepsInBrackets) {
  const TrainingLog log = ReadTrainingLog(LinesOf(0, 110, 10, [](int step) {
    return fmt::format("Epoch: [1/400][ {}/120]\tTime  1.867 ( 2.028)\tData  0.4 ( 0.5)\tLoss 2.1 (2.0)",
                       step);
  }));
  ASSERT_EQ(log.iterations.size(), 12u);
  EXPECT_FALSE(log.timers.empty());
  const TrainingLog other = ReadTrainingLog(LinesOf(
      0, 110, 10, [](int step) { return fmt::format("Epoch 3/400 [{}/120] loss 2.1 4.0 it/s", step); }));
  ASSERT_EQ(other.iterations.size(), 12u);
  ExpectSeconds(other, 2, 0.25);
}

TEST(GeneralLines, ATrainingThatCountsNothingHasLossesAlone) {
  const TrainingLog log = ReadTrainingLog(
      LinesOf(1, 30, 1, [](int) { return std::string("current loss: 0.25, best loss: 0.2"); }));
  EXPECT_TRUE(log.iterations.empty());
  EXPECT_EQ(log.loss_lines, 30);
}

// Python's difference of two times after each 100 steps, and nothing else beside it.
TEST(GeneralLines, TimesBetweenTheirLines) {
  const auto text = [](const std::string& more) {
    std::string lines;
    for (int step = 10; step <= 400; step += 10) {
      lines += fmt::format("iter {}:, loss=0.4, lr=0.1\n", step);
      if (step % 100 == 90) lines += fmt::format("0:00:{}.500000\n{}", step == 290 ? 25 : 20, more);
    }
    return lines;
  };
  const TrainingLog log = ReadTrainingLog(text(""));
  ASSERT_EQ(log.iterations.size(), 40u);
  EXPECT_FALSE(log.iterations[8].elapsed_ns) << "of how many steps the first is, is not known";
  ExpectSeconds(log, 9, 0.205);
  ExpectSeconds(log, 28, 0.255);
  ExpectSeconds(log, 29, 0.205);
  EXPECT_FALSE(log.iterations[39].elapsed_ns);
  EXPECT_FALSE(ReadTrainingLog(text("accuracy of the test 0.5\n")).iterations[9].elapsed_ns)
      << "it may be of the evaluation";
}

TEST(GeneralLines, StepsTakeTheirPartOfTheEpochThatALineAfterThemTells) {
  const auto log = [](const std::string& time_of_line) {
    std::string text;
    for (int epoch = 1; epoch <= 3; ++epoch) {
      for (int step = 20; step <= 180; step += 20)
        text += fmt::format("[INFO] ep={} step={}/200 LR=1.0e-05 loss={}{}\n", epoch, step,
                            epoch == 3 ? "nan" : "1.9", time_of_line);
      text +=
          fmt::format("[INFO] Epoch done. ep={} avg_loss=1.4 avg_acc=0.33 time={}.0s\n", epoch, 40 * epoch);
    }
    return ReadTrainingLog(text);
  };
  const TrainingLog read = log("");
  ASSERT_EQ(read.iterations.size(), 27u);
  ExpectSeconds(read, 0, 0.2);
  ExpectSeconds(read, 9, 0.4);
  EXPECT_EQ(read.iterations[26].nan, 20);
  ExpectSeconds(log(" 0.1s/step"), 9, 0.1);
}

TEST(GeneralLines, ALossOfOneLetter) {
  const TrainingLog log = ReadTrainingLog(LinesOf(
      20, 200, 20, [](int step) { return fmt::format("step={}/200 LR=1.0e-05 L=nan top=0.5", step); }));
  ASSERT_EQ(log.iterations.size(), 10u);
  EXPECT_EQ(log.iterations[3].nan, 20);
}

TEST(GeneralLines, PartsOfFairseq2AreOfTheStepsSinceTheLineBefore) {
  std::string text;
  for (int i = 1; i <= 10; ++i)
    text += fmt::format(
        "[2024-11-02 10:{:02}:00,123] INFO fairseq2 - Train Metrics (step {}, epoch 1) - NLL Loss: 2.5 | "
        "Learning Rate: 5e-06 | Data Time: 24s | Elements per Second: 3,212\n",
        i, 100 * i);
  const TrainingLog log = test::LogOf(text);
  EXPECT_EQ(log.program, "fairseq2");
  ASSERT_FALSE(log.timers.empty());
  EXPECT_NEAR(log.timers.back().ns.value_or(0), 0.24e9, 1);
}

TEST(GeneralLines, SecondsBehindAfterAreSinceTheStart) {
  std::string text;
  for (int i = 0; i <= 10; ++i)
    text += fmt::format("Step {}: loss = 0.41 (after {:.1f} s)\n", 100 * i, 37.0 * i);
  const TrainingLog log = test::LogOf(text);
  ASSERT_GT(log.iterations.size(), 5u);
  EXPECT_NEAR(log.iterations.back().elapsed_ns.value_or(0), 0.37e9, 1e6);
}

}  // namespace
}  // namespace dladvisor
