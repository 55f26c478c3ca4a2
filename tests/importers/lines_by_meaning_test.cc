// SPDX-License-Identifier: Apache-2.0
// What lines of trainings mean where no unit or word says it: times without unit beside times of lines,
// clocks, coarse means, rows of tables, bars without a title; and what a text without a step says of itself.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::RefusalOf;
using testing::HasSubstr;

TrainingLog ByMeaning(const std::string& text) { return test::ReadLog(text).training_log; }

void ExpectRow(const TrainingLog& log, size_t row, double seconds) {
  ASSERT_GT(log.iterations.size(), row);
  ASSERT_TRUE(log.iterations[row].elapsed_ns);
  EXPECT_NEAR(*log.iterations[row].elapsed_ns, seconds * 1e9, 1e-3 * seconds * 1e9);
}

std::string Clock(int seconds) {
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

TEST(LinesByMeaning, TimeWithoutUnitIsOfAStepByWholeSecondsOfLines) {
  std::string text;
  for (int line = 0; line < 40; ++line)
    text += fmt::format("[2020/11/25 {}] root INFO: epoch: [1/120], iter: {}, 'loss': 0.98, time: 1.208\n",
                        Clock(12 * line), 10 * line);
  ExpectRow(ByMeaning(text), 5, 1.208);
}

TEST(LinesByMeaning, TimeWithoutUnitIsOfTheStepsSinceTheLastLine) {
  std::string text;
  for (int line = 0; line < 40; ++line)
    text +=
        fmt::format("11/25/2020 {} - INFO - step: {} loss: 0.98 time: 12.1\n", Clock(12 * line), 10 * line);
  ExpectRow(ByMeaning(text), 5, 1.21);
}

TEST(LinesByMeaning, TimesInWholeSecondsTimeLinesThatAreCloseTogether) {
  std::string text;
  for (int line = 0; line < 100; ++line)
    text += fmt::format("[10/05 {}] step {} loss 2.0\n", Clock(72'000 + 5 * line), 10 * line);
  const TrainingLog log = ByMeaning(text);
  ExpectRow(log, 3, 0.5);
  EXPECT_EQ(log.iterations.back().iteration, 991);
  int64_t covered = 0;
  for (const TrainingIteration& row : log.iterations) covered += row.covers.value_or(0);
  EXPECT_EQ(covered, 991);
}

TEST(LinesByMeaning, DayThatIsTakenForAMonthMakesNoIterationOfAMonth) {
  std::string text;
  for (int line = 0; line < 100; ++line)
    text += fmt::format("{:02}/03/2022 {} - INFO - step {} loss 2.0\n", line < 50 ? 5 : 6,
                        Clock((line < 50 ? 84'900 : 0) + 30 * (line % 50)), line);
  for (const TrainingIteration& row : ByMeaning(text).iterations)
    EXPECT_LT(row.elapsed_ns.value_or(0), 60e9) << row.iteration;
}

TEST(LinesByMeaning, LossThatIsNoNumberCounts) {
  std::string lines, rows = "step,loss,value_loss,step_time\n";
  for (int step = 1; step <= 40; ++step) {
    const std::string loss = step > 30 ? "nan" : "2.0";
    lines += fmt::format("step {} | loss {} | val_loss nan | 0.25 s/step\n", step, loss);
    rows += fmt::format("{},{},1.0,0.25\n", step, loss);
  }
  for (const std::string& text : {lines, rows}) {
    const TrainingLog log = ByMeaning(text);
    ASSERT_EQ(log.iterations.size(), 40);
    EXPECT_FALSE(log.iterations[29].nan);
    EXPECT_EQ(log.iterations[30].nan, 1);
  }
  EXPECT_TRUE(ByMeaning(rows).events.empty());
}

TEST(LinesByMeaning, DatesWithSlashesTimeTheirLines) {
  for (const char* date : {"02/13/2022", "13/02/2022", "2022/02/13"}) {
    std::string text;
    for (int line = 1; line <= 12; ++line)
      text += fmt::format("{} {} - INFO - Epoch: [1], step: [{}], lr: 0.00002, batch_loss: 0.0052\n", date,
                          Clock(66 * line), 100 * line);
    ExpectRow(ByMeaning(text), 3, 0.66);
  }
}

TEST(LinesByMeaning, DatesOfGlog) {
  std::string text;
  for (int line = 1; line <= 12; ++line)
    text += fmt::format("I0731 {}.250000 140120 trainer.py:192] step: {} loss: 2.5\n", Clock(30 * line),
                        100 * line);
  ExpectRow(ByMeaning(text), 3, 0.3);
}

TEST(LinesByMeaning, ClockIsTheTimeSinceTheStart) {
  std::string text = "Epoch [1/3]\n";
  for (int line = 0; line <= 12; ++line)
    text += fmt::format(
        "Iter: {:6},  Train Loss:   0.4,  Train Acc: 86.72%,  Val Loss:  0.36,  Val Acc: 89.44%,  "
        "Time: {} *\n",
        100 * line, Clock(37 + 182 * line).substr(1));
  const TrainingLog log = ByMeaning(text);
  ExpectRow(log, 3, 1.82);
}

TEST(LinesByMeaning, ClockOfTheDayIsNoTime) {
  std::string text;
  for (int line = 0; line <= 12; ++line)
    text += fmt::format("step: {} loss: 0.4 eta: {}\n", 10 * line, Clock(40'000 - 100 * line));
  EXPECT_FALSE(ByMeaning(text + text).iterations.size() > 1 && ByMeaning(text).iterations[1].elapsed_ns);
}

TEST(LinesByMeaning, UnitInBracketsBesideWordsOfATraining) {
  std::string text;
  for (int line = 0; line < 12; ++line)
    text += fmt::format("GAN training: time elapsed = {:.2f} [s] | epoch=1 | batch= [{}/3503]\n",
                        1.62 + 49.5 * line, 50 * line + 1);
  const TrainingLog log = ByMeaning(text);
  ExpectRow(log, 3, 0.99);
  EXPECT_EQ(log.iterations[3].iteration, 151);
}

// The line's own step waits or does not; the mean of the epoch says what most do, when its digits no longer
// tell what those since the last line did.
TEST(LinesByMeaning, MeansTooCoarseForTheirDifferencesCountThemselves) {
  std::string text;
  for (int step = 0; step <= 10'000; step += 20)
    text +=
        fmt::format("Epoch: [0][{:5}/10010]\tTime  0.465 ( 1.900)\tData  0.000 ( 1.400)\tLoss 6.9\n", step);
  const TrainingLog log = ByMeaning(text);
  ExpectRow(log, 400, 1.9);
  ASSERT_GT(log.timers.size(), 400u);
  EXPECT_NEAR(*log.timers[400].ns, 1.4e9, 1e7);
}

TEST(LinesByMeaning, LoadingThatIsLongerThanTheStepsIsOfAnotherSpan) {
  std::string text;
  for (int line = 0; line < 8; ++line)
    text += fmt::format(
        "2024-07-14 {} - LOGS - Epoch: {} [{}/10000000], loss: 19.9, LR: 1e-06, Avg. batch load time: "
        "2.411, Elapsed time: 2.71\n",
        Clock(24 * line), line, 60 * line);
  const TrainingLog log = ByMeaning(text);
  EXPECT_GT(log.iterations.size(), 4u);
  EXPECT_TRUE(log.timers.empty());
}

TEST(LinesByMeaning, RowsOfATableAreSteps) {
  std::string text = "index,iteration,test_accuracy,test_loss,timestamp,training_accuracy,training_loss\n";
  for (int step = 0; step < 40; ++step)
    text += fmt::format("{},{},{},2018-08-04 14:16:{:02}.{:03},0.1,2.3\n", step, step,
                        step % 10 == 5 ? "0.5,1.2" : ",", step / 10, 100 * (step % 10));
  const TrainingLog log = ByMeaning(text);
  EXPECT_EQ(log.iterations.size(), 40u);
  ExpectRow(log, 3, 0.1);
  ASSERT_EQ(log.events.size(), 4u);
  EXPECT_EQ(log.events[0].kind, TrainingEventKind::kEvaluation);
  EXPECT_EQ(log.events[0].before, 6u);
}

TEST(LinesByMeaning, RowsOfATableOfEpochs) {
  std::string text = "epoch,time,train/box_loss,metrics/mAP50(B),val/box_loss,lr/pg0\n";
  for (int epoch = 1; epoch <= 30; ++epoch)
    text += fmt::format("{},{:.2f},1.5,0.4,1.6,0.001\n", epoch, 31.5 * epoch);
  const TrainingLog log = ByMeaning(text);
  EXPECT_TRUE(log.of_epochs);
  ExpectRow(log, 3, 31.5);
}

TEST(LinesByMeaning, RecordsAsJsonAreSteps) {
  std::string text;
  for (int step = 1; step <= 20; ++step)
    text += fmt::format(
        "{{\"mode\": \"train\", \"epoch\": 1, \"iter\": {}, \"lr\": 0.02, \"data_time\": 0.1, \"loss\": 1.2, "
        "\"time\": 0.5}}\n",
        50 * step);
  const TrainingLog log = ByMeaning(text);
  ExpectRow(log, 3, 0.5);
  EXPECT_FALSE(log.timers.empty());
}

TEST(LinesByMeaning, BarsOfNewerUltralytics) {
  std::string text;
  for (int epoch = 1; epoch <= 4; ++epoch)
    for (const char* bar :
         {"50% ━━━━━─────── 37/75 1.5s/it 55.5<55.5s", "100% ━━━━━━━━━━━━ 75/75 1.5s/it 1:53"})
      text += fmt::format(
          "\x1b[K       {}/50      8.38G     0.5991     0.4714     0.8693         53        640: {}\r\n",
          epoch, bar);
  const TrainingLog log = ByMeaning(text);
  EXPECT_EQ(log.program, "YOLO");
  ASSERT_EQ(log.iterations.size(), 4u);
  EXPECT_EQ(log.iterations[3].iteration, 300);
  EXPECT_EQ(log.iterations[3].planned, 50 * 75);
  ExpectRow(log, 2, 113.0 / 75);
}

TEST(LinesByMeaning, TablesOfStableBaselines) {
  std::string text;
  for (int round = 1; round <= 8; ++round)
    text += fmt::format(
        "---------\n| time/              |          |\n|    fps             | 75       |\n|    iterations    "
        "  "
        "| {}       |\n|    time_elapsed    | {}      |\n|    total_timesteps | {}    |\n| train/ |  |\n|    "
        "loss                 | 4.17       |\n---------\n",
        round, 27 * round, 2048 * round);
  const TrainingLog log = ByMeaning(text);
  EXPECT_EQ(log.program, "Stable-Baselines3");
  ASSERT_EQ(log.iterations.size(), 8u);
  ExpectRow(log, 3, 27);
}

// Of short rounds whole seconds say too little each.
TEST(LinesByMeaning, TablesOfStableBaselinesWithShortRounds) {
  std::string text;
  for (int round = 1; round <= 40; ++round)
    text += fmt::format("|    iterations      | {}       |\n|    time_elapsed    | {}      |\n---------\n",
                        round, 3 * round / 2);
  const TrainingLog log = ByMeaning(text);
  ASSERT_GE(log.iterations.size(), 3u);
  ASSERT_TRUE(log.iterations[2].elapsed_ns);
  EXPECT_NEAR(*log.iterations[2].elapsed_ns, 1.5e9, 0.15e9);
}

std::string BarsOfEpochs(const std::string& hole) {
  std::string text;
  for (int epoch = 0; epoch < 30; ++epoch)
    text +=
        fmt::format("Epoch num {}| train loss 0.26\n: {:3}%|###  | {}/200 [{:02}:{:02}<58:51, 30.19s/it]{}\r",
                    epoch, epoch / 2, epoch + 1, 30 * (epoch + 1) / 60, 30 * (epoch + 1) % 60, hole);
  return text + "\n";
}

TEST(LinesByMeaning, BarWithoutTitleBesideLosses) {
  for (const std::string& hole : {std::string(), std::string(200, '\0')}) {
    const TrainingLog log = ByMeaning(BarsOfEpochs(hole));
    EXPECT_TRUE(log.of_epochs);
    ExpectRow(log, 5, 30);
  }
}

TEST(LinesByMeaning, PauseAtTheEndOfATrainersEpoch) {
  std::string text;
  int seconds = 0;
  for (int step = 10; step <= 300; step += 10) {
    seconds += 24 + (step == 110 || step == 220 ? 18 : 0);
    text += fmt::format(
        " 9%|#  | {}/300 [{:02}:{:02}<03:47,  2.40s/it]\n{{'loss': 0.06, 'learning_rate': 1e-05, 'epoch': "
        "{:.2f}}}\n",
        step, seconds / 60, seconds % 60, step / 105.0);
  }
  const TrainingLog log = ByMeaning(text);
  size_t ends = 0;
  for (const TrainingEvent& event : log.events) {
    ends += event.kind == TrainingEventKind::kEpochEnd;
    EXPECT_EQ(log.iterations[event.before].iteration % 110, 0);
  }
  EXPECT_EQ(ends, 2u);
}

TEST(LinesByMeaning, ValidationBetweenItsBeginAndItsResult) {
  std::string text;
  for (int step = 200; step <= 2000; step += 200) {
    text += fmt::format(
        "[2022-04-08 18:{:02}:05,372][train_inner][INFO] - {{\"epoch\": 1, \"update\": 0.4, \"loss\": "
        "\"9.2\", \"ups\": "
        "\"0.5\", "
        "\"num_updates\": \"{}\"}}\n",
        step / 200 * 4, step);
    if (step % 1000 == 0)
      text += fmt::format(
          "[2022-04-08 18:{0:02}:10,000][fairseq_cli.train][INFO] - begin validation on \"valid\" subset\n"
          "[2022-04-08 18:{0:02}:50,000][valid][INFO] - {{\"epoch\": 1, \"valid_loss\": \"6.389\"}}\n",
          step / 200 * 4);
  }
  const TrainingLog log = ByMeaning(text);
  EXPECT_EQ(log.evaluations, 2);
  EXPECT_NEAR(log.evaluation_ns, 80e9, 1e6);
}

TEST(LinesByMeaning, ConfigurationsThatDifferTellNothing) {
  const auto config = [](const char* device) {
    return fmt::format("  \"offload_optimizer\": {{\n    \"device\": \"{}\"\n  }},\n", device);
  };
  std::string steps;
  for (int step = 1; step <= 12; ++step) steps += fmt::format("step {} loss: 2.1 step time: 0.5 s\n", step);
  EXPECT_TRUE(ByMeaning(config("cpu") + config("cpu") + steps).settings.contains("offload_optimizer"));
  EXPECT_FALSE(ByMeaning(config("cpu") + config("none") + steps).settings.contains("offload_optimizer"));
  EXPECT_FALSE(ByMeaning(config("none") + config("cpu") + steps).settings.contains("offload_optimizer"));
}

TEST(LinesByMeaning, DateWithoutYearIsNoStep) {
  std::string text;
  for (int step = 0; step <= 120; step += 10)
    text += fmt::format(
        "[10/05 {}] epoch:[  1/100] \x1b[95mtrain step:{}  \x1b[0m \x1b[92mloss: 3.3\x1b[0m "
        "\x1b[92mbatch_cost: 0.544 sec,\x1b[0m \x1b[92mreader_cost: 0.002 sec,\x1b[0m\n",
        Clock(step / 2), step);
  const TrainingLog log = ByMeaning(text);
  ASSERT_EQ(log.iterations.size(), 13u);
  EXPECT_EQ(log.iterations[4].covers, 10);
  ExpectRow(log, 4, 0.544);
}

TEST(LinesByMeaning, StartsThatEndAtTheirFirstStep) {
  std::string text;
  for (const int start : {0, 400, 900})
    for (int step = 0; step <= (start < 900 ? 0 : 600); step += 100)
      text +=
          fmt::format("[2024-03-30 {},021][main.Trainner][INFO] - iteration index: {}, batch loss: 63.4\n",
                      Clock(start + step), step);
  const TrainingLog log = ByMeaning(text);
  ASSERT_GE(log.iterations.size(), 4u);
  for (const TrainingIteration& row : log.iterations) EXPECT_NEAR(row.elapsed_ns.value_or(1e9), 1e9, 1e7);
}

TEST(LinesByMeaning, EpochThatTakesSeconds) {
  std::string text;
  for (int epoch = 0; epoch < 6; ++epoch)
    text += fmt::format(
        "[03/02 11:22:36][INFO] train_net.py:  686: Epoch {} takes 262.5s. Epochs from 0 to {} take 262s in "
        "average\n",
        epoch, epoch);
  const TrainingLog log = ByMeaning(text);
  EXPECT_TRUE(log.of_epochs);
  ExpectRow(log, 2, 262.5);
}

TEST(LinesByMeaning, EvaluationsOfDetectron2) {
  std::string text;
  for (int step = 19; step < 400; step += 20) {
    text += fmt::format(
        "[11/19 20:02:14] d2.utils.events INFO:  eta: 20:45:15  iter: {}  total_loss: 0.15  time: 0.675  "
        "data_time: 0.06  lr: 0.04  max_mem: 11810M\n",
        step);
    if (step % 200 == 199)
      text +=
          "[11/19 20:15:35] d2.evaluation.evaluator INFO: Total inference time: 0:02:16.655341 (0.04 s / "
          "iter)\n";
  }
  const TrainingLog log = ByMeaning(text);
  EXPECT_EQ(log.evaluations, 2);
  EXPECT_NEAR(log.evaluation_ns, 272e9, 1);
}

TEST(LinesByMeaning, LoaderOfImagesWithoutWorkers) {
  std::string steps;
  for (int step = 1; step <= 12; ++step) steps += fmt::format("step {} loss: 2.1 step time: 0.5 s\n", step);
  EXPECT_TRUE(ByMeaning("  NUM_WORKERS: 0  # was 8\n" + steps).settings.contains("slow_path_no_workers"));
  EXPECT_TRUE(ByMeaning("Using 0 dataloader workers\n" + steps).settings.contains("slow_path_no_workers"));
  EXPECT_FALSE(ByMeaning("Using 8 dataloader workers\n" + steps).settings.contains("slow_path_no_workers"));
  EXPECT_FALSE(ByMeaning("  NUM_WORKERS: 8\n" + steps).settings.contains("slow_path_no_workers"));
}

TEST(TextWithoutSteps, SaysWhatItHolds) {
  EXPECT_THAT(
      RefusalOf("[07/03 17:29:36] detectron2 INFO: Rank of current process: 0. World size: 1\nSEED: -1\n"),
      HasSubstr("a log of Detectron2 without a line of an iteration"));
  EXPECT_THAT(
      RefusalOf("2025-04-14T15:51:31Z  INFO text_generation_launcher: Args {\n model_id: \"zephyr\"\n"),
      HasSubstr("a log of TGI (text-generation-inference) without a line of a request"));
  EXPECT_THAT(
      test::ReadLog("python: can't open file '/data1/train.py': [Errno 2] No such file or directory\n")
          .program_output.error,
      HasSubstr("python: can't open file"));
  EXPECT_EQ(test::ReadLog("$\n-----\nExited with exit code 127.\nRun time : 92 sec.\n").program_output.error,
            "Exited with exit code 127");
  std::string rows, records;
  for (int i = 0; i < 12; ++i) {
    rows += fmt::format("2025/09/08 14:14:{:02}.120, 0, 11409\n", i);
    records += fmt::format("{{\"train_lr\": 0.1, \"train_loss\": 4.8, \"n\": {}}}\n", i);
  }
  EXPECT_THAT(RefusalOf(rows),
              HasSubstr("a table of numbers by date, without names of its columns or units"));
  EXPECT_THAT(RefusalOf(records), HasSubstr("records of a training without the time of a step or epoch"));
  EXPECT_THAT(RefusalOf("a game began\nthe turn ends\n"),
              HasSubstr("no line is of a log that dladvisor knows"));
}

TEST(LinesByMeaning, TableWhoseColumnsBlanksPartIsRead) {
  std::string text = "2021-01-25 05:58:00 [INFO]:    Epoch       Batch       box      total      time\n";
  int second = 3600;
  for (int epoch = 0; epoch < 4; ++epoch)
    for (int batch = 0; batch < 165; batch += 40) {
      // Two hours in which the first epoch's model is evaluated.
      second += batch > 0 ? 316 : epoch == 2 ? 7200 : 50;
      text += fmt::format("2021-01-25 {} [INFO]:    {}/3     {}/165     0.22      15{}      {}\n",
                          Clock(second), epoch, batch, batch,
                          batch == 0        ? 13.9
                          : batch % 80 == 0 ? 7.2
                                            : 7.0);
    }
  const TrainingLog log = ByMeaning(text);
  ASSERT_GE(log.iterations.size(), 15u);
  ExpectRow(log, 1, 7.0);
  double most = 0;
  for (const TrainingIteration& row : log.iterations)
    most = std::max(most, row.elapsed_ns.value_or(0) * static_cast<double>(row.covers.value_or(1)));
  EXPECT_NEAR(most, 7200e9, 10e9) << "the time of one step is not that of those beside it";
  EXPECT_EQ(log.events.back().kind, TrainingEventKind::kEpochEnd);
}

TEST(LinesByMeaning, CellsInQuotesMayHoldCommas) {
  std::string text = "step,name,loss,step_time\n";
  for (int step = 1; step <= 8; ++step) text += fmt::format("{},\"a, b\",2.0,0.5\n", step);
  ExpectRow(ByMeaning(text), 3, 0.5);
}

TEST(LinesByMeaning, LossOfAValidationOnEveryLineOfAStepIsNoEvent) {
  std::string text, some;
  for (int step = 1; step <= 40; ++step) {
    text += fmt::format("step {} loss 2.0 val_loss: 2.1 0.25 s/step\n", step);
    some += fmt::format("step {} loss 2.0{} 0.25 s/step\n", step, step % 10 == 0 ? " val_loss: 2.1" : "");
  }
  EXPECT_TRUE(ByMeaning(text).events.empty());
  EXPECT_EQ(ByMeaning(some).events.size(), 4u);
}

TEST(LinesByMeaning, TimeOfAnEpochMayFollowOnALineOfItsOwn) {
  std::string text;
  for (int epoch = 1; epoch <= 3; ++epoch)
    for (int part = 1; part <= 2; ++part)
      text += fmt::format("Epoch {} Loss 4.1 Accuracy 0.02\nTime taken for 1 epoch: {}.5 secs\n\n", epoch,
                          100 * part);
  const TrainingLog log = ByMeaning(text);
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_TRUE(log.of_epochs);
  ExpectRow(log, 1, 200.5);
}

TEST(LinesByMeaning, TimesOfEpochsThatCountFromTheStartAreSplit) {
  std::string totals, times;
  for (int epoch = 1; epoch <= 8; ++epoch) {
    totals += fmt::format("Epoch {}, Loss: 0.5, Time: {}.0s\n", epoch, 30 * epoch);
    times += fmt::format("Epoch {}, Loss: 0.5, Time: {}.0s\n", epoch, 30 + epoch);
  }
  ExpectRow(ByMeaning(totals), 5, 30);
  ExpectRow(ByMeaning(times), 5, 36);
}

TEST(LinesByMeaning, FewLinesWithLossesAndNoTimeAreATrainingsAllTheSame) {
  EXPECT_EQ(test::ReadTrainingLog("Epoch 1 loss 2.1\nEpoch 2 loss 2.0\nEpoch 3 loss 1.9\n").loss_lines, 3);
}

TEST(LinesByMeaning, BarThatGoesOnFromACheckpointCountsFromThere) {
  std::string text = "  0%|          | 0/2696 [00:00<?, ?it/s]\n";
  for (int step = 531; step <= 560; ++step)
    text +=
        fmt::format(" 20%|##   | {}/2696 [{:02}:{:02}<10:41,  3.38it/s]\n{{'loss': 0.02, 'epoch': 0.4}}\n",
                    step, (step - 530) * 80 / 60, (step - 530) * 80 % 60);
  const TrainingLog log = ByMeaning(text);
  ExpectRow(log, 0, 80);
  EXPECT_EQ(log.iterations.front().covers, 1);
}

TEST(LinesByMeaning, RatesByTheirWords) {
  const auto last = [](const char* rate) {
    return ByMeaning(test::LinesOf(1, 20, 1,
                                   [&](int step) {
                                     return fmt::format("Step {} | loss:1.25 lr:2e-05 {}:2345.5", step, rate);
                                   }))
        .iterations.back();
  };
  EXPECT_EQ(last("tokens_per_second_per_gpu").tokens_per_second, 2345.5);
  EXPECT_EQ(last("train/samples_per_sec").samples_per_second, 2345.5);
}

TEST(LinesByMeaning, PartsOfAnEpochByTheirNamesAlone) {
  const TrainingLog log = ByMeaning(test::LinesOf(1, 10, 1, [](int epoch) {
    return fmt::format(
        "[Epoch {:03}] train_loss=0.5 val_loss=0.6 | train 31.5s val 12.5s data 18.5s | lr 1e-3", epoch);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectRow(log, 3, 31.5);
  EXPECT_EQ(log.evaluations, 10);
  EXPECT_NEAR(log.evaluation_ns, 125e9, 1e6);
}

TEST(LinesByMeaning, WeNetByTheDatesOfItsLines) {
  const TrainingLog log = ByMeaning(test::LinesOf(1, 20, 1, [](int line) {
    return fmt::format(
        "2024-05-01 10:{:02}:{:02},123 DEBUG TRAIN Batch 0/{} loss 61.1 loss_att 52.1 lr 0.0001 rank 0",
        41 * line / 60, 41 * line % 60, 100 * line);
  }));
  ASSERT_EQ(log.iterations.size(), 20u);
  ExpectRow(log, 3, 0.41);
}

TEST(LinesByMeaning, TheTimeOfAnEpochInBracketsAtItsEnd) {
  const TrainingLog log = ByMeaning(test::LinesOf(1, 10, 1, [](int epoch) {
    return fmt::format("Epoch {:2}: train loss 0.5, val loss 0.6, lr 1e-3 (1m 3s)", epoch);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectRow(log, 3, 63);
}

TEST(LinesByMeaning, ValuesOfAnEpochByTheirSigns) {
  const TrainingLog log = ByMeaning(test::LinesOf(0, 9, 1, [](int epoch) {
    return fmt::format(
        "INFO:root:epoch={} train_loss=0.5 train_time=40.5 val_loss=0.6 val_time=15.5 data_time=21.5", epoch);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectRow(log, 3, 40.5);
  EXPECT_EQ(log.evaluations, 10);
  ASSERT_EQ(log.timers.size(), 10u);
  EXPECT_NEAR(*log.timers[3].ns, 21.5e9, 1e6);
}

TEST(LinesByMeaning, EpochsAloneHaveATime) {
  std::string text;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (int batch = 0; batch < 400; batch += 100)
      text += fmt::format("Epoch {} Batch {} Loss 1.25\n", epoch, batch);
    text += fmt::format("Time taken for 1 epoch: {}.5 secs\n", 60 + epoch);
  }
  const TrainingLog log = ByMeaning(text);
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_TRUE(log.of_epochs);
  ExpectRow(log, 1, 62.5);
}

TEST(LinesByMeaning, DtIsOfASingleStep) {
  const TrainingLog log = ByMeaning(test::LinesOf(0, 200, 10, [](int step) {
    return fmt::format("iter {}: loss 2.31, dt {}.25ms, tok/sec 105000.1, mfu 42.1%", step, 310 + step % 7);
  }));
  ExpectRow(log, 7, 0.31025);
}

}  // namespace
}  // namespace dladvisor
