// SPDX-License-Identifier: Apache-2.0
// Lines of steps as people write them by hand, and numbers in logs that nothing can count to.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

using test::LogOf;

// 60 lines, in each of which `form` has the step's number.
std::string SixtyLines(const char* form) {
  std::string text;
  for (int step = 1; step <= 60; ++step) text += fmt::format(fmt::runtime(form), step) + "\n";
  return text;
}

void ExpectStepsOf(const char* form, double seconds) {
  const TrainingLog log = LogOf(SixtyLines(form));
  ASSERT_EQ(log.iterations.size(), 60u) << form;
  ASSERT_TRUE(log.iterations[5].elapsed_ns) << form;
  EXPECT_NEAR(*log.iterations[5].elapsed_ns, seconds * 1e9, 1e6) << form;
  EXPECT_EQ(log.iterations[5].iteration, 6) << form;
  EXPECT_EQ(log.iterations.back().attempt, 0) << form;
}

TEST(WrittenLines, AColonBehindTheStepIsNoClock) {
  ExpectStepsOf("Step {}: loss=2.0, time=0.5s, lr=1e-3", 0.5);
  ExpectStepsOf("step {}: loss 2.0 | step time 0.25 s", 0.25);
}

TEST(WrittenLines, DatesWithSlashesAreNoSteps) {
  ExpectStepsOf("2024/01/31 10:00:00 step {} loss 2.0 step_time 0.5 s", 0.5);
}

TEST(WrittenLines, NamesEndWithUnits) {
  ExpectStepsOf("step {} loss 2.0 step time(ms): 500.0", 0.5);
  ExpectStepsOf("step={} loss=2.0 step_time_ms=500.0", 0.5);
}

TEST(WrittenLines, WhatIsNamedBeforeTheStep) {
  ExpectStepsOf("batch: 32 step: {} loss: 2.0 step time: 0.5 s", 0.5);
  ExpectStepsOf("step {} | eval every 500 | loss 2.0 | step time 0.5 s", 0.5);
}

TEST(WrittenLines, AmountsOfDataAreNoTimeOfLoading) {
  EXPECT_TRUE(LogOf(SixtyLines("step {} loss 2.0 step time 5.0 s data 3.0 M")).timers.empty());
}

TEST(WrittenLines, AnotherRankOneStepBehindIsNoRestart) {
  std::string text;
  for (int step = 1; step <= 40; ++step)
    for (const int of_rank : {step, step + 1, step})
      text += fmt::format("[rank] step {} loss 2.0 step_time 0.5 lr 1e-3\n", of_rank);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 41u);
  EXPECT_EQ(log.iterations.back().iteration, 41);
  EXPECT_EQ(log.iterations.back().attempt, 0);
}

TEST(WrittenLines, NumbersThatNothingCountsToAreNone) {
  for (const char* form :
       {"{0}000000000000000000000000000/90 loss 2.0 time 0.5 s step",
        "Epoch 1: 50%|####| 1{0}/90 [9223372036854775807:{0:02}<00:01, 2.0it/s]",
        "Epoch {0}: 50%|####| 9/9223372036854775807 [00:{0:02}<00:01, 2.0it/s]",
        ":::MLLOG {{\"key\": \"epoch_start\", \"time_ms\": {0}00000000000000000000000000}}"}) {
    try {
      for (const TrainingIteration& row : LogOf(SixtyLines(form)).iterations) {
        EXPECT_GE(row.iteration, 0) << form;
        EXPECT_LT(row.elapsed_ns.value_or(0), 1e18) << form;
      }
    } catch (const Error&) {  // no log
    }
  }
}

TEST(WrittenLines, ARunOfMlperfThatWasKilledLeavesNoEpochOpen) {
  const auto event = [](const char* key, int64_t minute) {
    return fmt::format(":::MLLOG {{\"time_ms\": {}, \"key\": \"{}\"}}\n", minute * 60'000, key);
  };
  std::string text = event("run_start", 0);
  for (int epoch = 0; epoch < 3; ++epoch)
    text += event("epoch_start", epoch) + event("epoch_stop", epoch + 1);
  text += event("epoch_start", 3) + event("run_start", 600);
  for (int epoch = 600; epoch < 603; ++epoch)
    text += event("epoch_start", epoch) + event("epoch_stop", epoch + 1);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 6u);
  for (const TrainingIteration& row : log.iterations) EXPECT_EQ(row.elapsed_ns, 60e9);
}

TEST(WrittenLines, OptimizerStepsBeyondAllBoundsAreUnknown) {
  EXPECT_FALSE(LogOf("  Total optimization steps = 9223372036854775807\n  Num Epochs = 1\n"
                     "{'loss': 0.02, 'epoch': 1.0}\n{'train_runtime': 10.5}\n")
                   .empty());
}

TEST(WrittenLines, CollectiveThatTimesOutStopsATraining) {
  std::string text;
  for (int step = 1; step <= 40; ++step) text += fmt::format("step {} loss 2.0 0.25 s/step\n", step);
  text +=
      "[rank1]:[E614 08:25:43.644 ProcessGroupNCCL.cpp:629] [Rank 1] Watchdog caught collective operation "
      "timeout: WorkNCCL(SeqNum=309, OpType=ALLREDUCE, NumelIn=1) ran for 1800000 ms\n"
      "Traceback (most recent call last):\ntorch.distributed.elastic.ChildFailedError: \n";
  EXPECT_EQ(LogOf(text).error, "NCCL: a collective operation timed out (ALLREDUCE)");
}

TEST(WrittenLines, WhatATrainingGetsOverStopsIt) {
  std::string steps;
  for (int step = 1; step <= 40; ++step) steps += fmt::format("step {} loss 2.0 0.25 s/step\n", step);
  const std::string traceback = "Traceback (most recent call last):\n  File \"x.py\", line 3, in f\n";
  EXPECT_EQ(LogOf(steps + traceback + "KeyError: 'best'\n").error, "KeyError: 'best'");
  EXPECT_EQ(LogOf(steps + traceback + "KeyError: 'best'\nTraining complete. Saved model.\n").error, "");
  EXPECT_EQ(LogOf(steps + "Exception ignored in: <function _Iter.__del__ at 0x7f>\n" + traceback +
                  "AssertionError: can only test a child process\n")
                .error,
            "");
}

TEST(WrittenLines, ProseIsNoHeadOfATable) {
  std::string text;
  for (int step = 1; step <= 60; ++step) text += fmt::format("step {} loss 2.0 0.25 s/step\n", step);
  EXPECT_EQ(LogOf("Compute total loss at every step\nstarting\n[ 1 2 3 4 5 6\n1 2 3 4 5 6\n" + text)
                .iterations.size(),
            60u);
}

TEST(WrittenLines, EpochsThatBecomeLongerAreNoTotals) {
  const auto last = [](double first, double growth, double noise) {
    std::string text;
    for (int epoch = 0; epoch < 10; ++epoch)
      text += fmt::format("Epoch: {} Loss: 0.5 Time: {:.1f}s\n", epoch,
                          (first + growth * epoch) * (epoch % 2 == 1 ? 1 + noise : 1));
    return LogOf(text).iterations.back().elapsed_ns.value_or(0);
  };
  EXPECT_NEAR(last(100, 100, 0), 100e9, 1e6);
  EXPECT_NEAR(last(60, 31, 0.05), 355.9e9, 1e8);
}

TEST(WrittenLines, TimesOfLinesTellTotalsFromEpochsThatBecomeLonger) {
  const auto last = [](bool totals) {
    std::string text;
    int seconds = 0;
    for (int epoch = 0; epoch < 10; ++epoch) {
      seconds += totals ? 60 : 60 + 58 * epoch;
      text += fmt::format("2024-05-01 {:02}:{:02}:{:02} Epoch: {} Loss: 0.5 Time: {}.0s\n", seconds / 3600,
                          seconds / 60 % 60, seconds % 60, epoch, 60 + 58 * epoch);
    }
    return LogOf(text).iterations.back().elapsed_ns.value_or(0);
  };
  EXPECT_NEAR(last(false), 582e9, 1e6);
  EXPECT_NEAR(last(true), 58e9, 1e6);
}

TEST(WrittenLines, SettingsTellMixedPrecisionAndWhatGenerates) {
  std::string text = "2022-05-06 09:45:51,433 config= AMP: False\n";
  for (int step = 1; step <= 40; ++step) text += fmt::format("step {} loss 2.0 0.25 s/step\n", step);
  EXPECT_EQ(LogOf(text).settings.at("amp"), "False");
  EXPECT_FALSE(LogOf("dtype: bfloat16\n" + text).settings.contains("amp"));
  EXPECT_FALSE(LogOf(text + "model in bf16\n").settings.contains("amp"));
  text += "{'loss': 0.0, 'completion_length': 111.9, 'reward': 0.6}\n";
  EXPECT_EQ(LogOf(text).settings.at("rollouts"), "trainer");
  EXPECT_EQ(LogOf(text + "INFO vllm engine started\n").settings.at("rollouts"), "vllm");
}

TEST(WrittenLines, TimeOfOneIterationIsNotThatOfAllOfItsLine) {
  std::string text;
  for (int step = 10; step <= 1000; step += 10)
    text += fmt::format("iter {}: loss 3.0, time {}ms\n", step, step % 250 == 0 ? 33560.0 : 560.0);
  const TrainingLog log = LogOf(text);
  double all = 0;
  for (const TrainingIteration& row : log.iterations)
    all += row.elapsed_ns.value_or(0) * static_cast<double>(row.covers.value_or(1));
  EXPECT_NEAR(all, (1000 * 0.56 + 4 * 33.0) * 1e9, 10e9);
}

TEST(WrittenLines, LoadAndGpuTimeAreOfTheStepsSinceTheLastLine) {
  std::string text;
  for (int step = 100; step <= 4000; step += 100)
    text +=
        fmt::format("iter: {:06} - train loss: 0.9 - lr: 4e-05 - load time: 0.50 - gpu time: 9.50\n", step);
  const TrainingLog log = LogOf(text);
  ASSERT_TRUE(log.iterations[3].elapsed_ns);
  EXPECT_NEAR(*log.iterations[3].elapsed_ns, 0.1e9, 1e6);
  ASSERT_FALSE(log.timers.empty());
  EXPECT_NEAR(*log.timers[3].ns, 5e6, 1e4);
}

TEST(WrittenLines, RecordingOfATerminalIsNoLog) {
  try {
    LogOf("\x1b[?1049h\x1b[HEvery 2.0s: nvidia-smi\n\x1b[6d| NVIDIA-SMI 570\x1b[6;37HDriver\n");
    ADD_FAILURE() << "was read";
  } catch (const Error& e) {
    EXPECT_NE(e.reason().find("a recording of a terminal"), std::string::npos) << e.what();
  }
  std::string text = "\x1b[?1049h\x1b[H vim\n\x1b[?1049l\n";
  for (int step = 1; step <= 40; ++step) text += fmt::format("Epoch {} Time: 3.0s\n", step);
  EXPECT_EQ(LogOf(text).iterations.size(), 40u);
}

TEST(WrittenLines, OldestLinesOfMlperfSayWhenEpochsBegin) {
  std::string text;
  for (int epoch = 0; epoch < 3; ++epoch)
    text += fmt::format(
        ":::MLPv0.5.0 ssd {}.5 (train.py:40) train_epoch: {}\n:::MLPv0.5.0 ssd {}.5 (train.py:50) "
        "eval_start: {}\n"
        ":::MLPv0.5.0 ssd {}.5 (train.py:60) eval_stop: {}\n",
        1541639000 + 100 * epoch, epoch, 1541639080 + 100 * epoch, epoch, 1541639100 + 100 * epoch, epoch);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_NEAR(*log.iterations[1].elapsed_ns, 80e9, 1e6);
  EXPECT_EQ(log.evaluations, 3);
  EXPECT_NEAR(log.evaluation_ns, 60e9, 1e6);
}

TEST(WrittenLines, EpochsThatMlperfAnnouncesTogetherShareTheTimeUntilTheNextEvent) {
  std::string text;
  for (int block = 0; block < 3; ++block) {
    for (int epoch = 0; epoch < 4; ++epoch)
      text += fmt::format(":::MLPv0.5.0 resnet {}.00{} (run.py:40) train_epoch: {}\n",
                          1541639000 + 100 * block, epoch, 4 * block + epoch);
    text += fmt::format(
        ":::MLPv0.5.0 resnet {}.003 (run.py:50) eval_start\n:::MLPv0.5.0 resnet {}.5 (run.py:60) eval_stop\n",
        1541639080 + 100 * block, 1541639090 + 100 * block);
  }
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[1].iteration, 8);
  EXPECT_EQ(log.iterations[1].covers, 4);
  EXPECT_NEAR(*log.iterations[1].elapsed_ns, 20e9, 1e7);
}

TEST(WrittenLines, SavedCheckpointIsNoEpoch) {
  std::string text;
  for (int line = 0; line < 20; ++line)
    text += fmt::format(
        "[2026-03-22 22:{:02}:10,100][main][INFO] - epoch {} | loss 2.5e-02 | lr 8e-05\n"
        "[2026-03-22 22:{:02}:20,100][main][INFO] - Checkpoint saved to best.pt  (epoch {}, loss 4e-03)\n",
        line, 500 * (line + 1), line, 500 * (line + 1) + 20);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 20u);
  EXPECT_EQ(log.iterations[5].covers, 500);
  EXPECT_NEAR(*log.iterations[5].elapsed_ns, 0.12e9, 1e6);
}

TEST(WrittenLines, LaunchersErrorIsNotTheReason) {
  std::string text;
  for (int step = 1; step <= 40; ++step) text += fmt::format("step {} loss 2.0 0.25 s/step\n", step);
  text +=
      "Traceback (most recent call last):\nsubprocess.CalledProcessError: Command 'python train.py' failed\n"
      "Traceback (most recent call last):\nOSError: [Errno 28] No space left on device\n"
      "Traceback (most recent call last):\nsubprocess.CalledProcessError: Command 'python train.py' failed\n";
  EXPECT_EQ(LogOf(text).error, "OSError: [Errno 28] No space left on device");
}

TEST(WrittenLines, TrainBeforeACountIsAStep) {
  std::string text;
  for (int step = 10; step <= 400; step += 10)
    text += fmt::format(
        "I1216 14:{:02}:{:02}.224024 139628846601088 train.py:577] [Train {}/1882] {{'train_loss': "
        "0.0007}}\n",
        step / 100, step % 100 / 2, step);
  const TrainingLog log = LogOf(text);
  ASSERT_GT(log.iterations.size(), 20u);
  EXPECT_NEAR(*log.iterations[3].elapsed_ns, 0.5e9, 1e7);
}

TEST(WrittenLines, TimeThatIsAlwaysTheSameIsNoMeanOfAnEpoch) {
  std::string text;
  for (int line = 0; line < 60; ++line)
    text += fmt::format("2024-01-01 00:{:02}:{:02} epoch: {}, iter: {}, loss: 0.9, time: 0.7\n",
                        line * 28 / 60, line * 28 % 60, line / 20, line % 20 * 40);
  const TrainingLog log = LogOf(text);
  EXPECT_GT(log.iterations.size(), 50u);
  EXPECT_NEAR(*log.iterations[5].elapsed_ns, 0.7e9, 1e7);
}

// Of each of 60 lines, the rate that `form` prints.
void ExpectRate(const char* form, std::optional<double> TrainingIteration::*rate, double expected) {
  const TrainingLog log = LogOf(SixtyLines(form));
  ASSERT_EQ(log.iterations.size(), 60u) << form;
  for (const TrainingIteration& row : log.iterations)
    ASSERT_NEAR((row.*rate).value_or(0), expected, 1e-6) << form;
}

TEST(WrittenLines, ARateThatANumberFollowsNamesThatNumber) {
  for (const char* form :
       {"step {}/100 loss 0.500 tokens/s: 1002", "step={} loss=0.5 tok/s=1002",
        "step {}/100, loss 1.0, tokens/s: 1002", "step={} loss=0.500 grad_norm=0.12 tok/s=1002 time=0.5s",
        "step {}/100 loss 0.5 lr 1.00e-04 tok/s 1002 0.5 s/step", "step {} loss 0.5 tok/s 1002 it/s 2.0",
        "step {} loss 0.5 speed 2.0 it/s 1002 tok/s", "step {} loss 0.5 | 1002 tok/s 0.5 s/step",
        "step {} loss 0.5 1002 tokens/s", "step {} loss 0.5 (1002 tok/s)",
        "step {} loss 0.5, 1002 tokens/second", "step {} loss 0.5 throughput: 1002 tokens/sec"})
    ExpectRate(form, &TrainingIteration::tokens_per_second, 1002);
  for (const char* form : {"step {}/100 loss 1.000 lr 0.0003 samples/s: 1001",
                           "step {} loss 1.000 lr=0.0003 images/s=1001", "iter {} loss 1.0 img/s 1001"})
    ExpectRate(form, &TrainingIteration::samples_per_second, 1001);
  for (const char* form : {"step {} loss 2.0 it/s: 4.0", "step {} loss 2.0 lr 1e-4 it/s 4.0 tok/s 1001",
                           "step {} loss 2.0 4.0 it/s 1001 tok/s", "step {} loss 2.0 s/it=0.25"})
    ExpectStepsOf(form, 0.25);
}

TEST(WrittenLines, ARateThatIsNoNumberLeavesTheOneBeforeIt) {
  for (const char* form : {"step {} loss 0.5 tok/s: nan time 0.5 s", "step {} loss 0.5 tok/s - time 0.5 s"}) {
    ExpectStepsOf(form, 0.5);
    for (const TrainingIteration& row : LogOf(SixtyLines(form)).iterations)
      EXPECT_FALSE(row.tokens_per_second) << form;
  }
}

// Every three seconds, in whole ones.
TEST(WrittenLines, ARateLeavesTheTimesOfTheLines) {
  for (const char* end : {"", " tok/s: 1001", ", 1001 tokens/s", ", 100 samples/s"}) {
    std::string text;
    for (int step = 1; step <= 60; ++step)
      text += fmt::format("[2026-11-25 10:{:02}:{:02}] step {} loss 0.5{}\n", step * 3 / 60, step * 3 % 60,
                          step, end);
    const TrainingLog log = LogOf(text);
    ASSERT_GE(log.iterations.size(), 4u) << end;
    EXPECT_NEAR(log.iterations[2].elapsed_ns.value_or(0), 3e9, 1) << end;
    if (std::string_view(end).find("tok") != std::string_view::npos) {
      EXPECT_NEAR(log.iterations[2].tokens_per_second.value_or(0), 1001, 1e-6) << end;
    }
  }
}

TEST(WrittenLines, WhatALineTellsOfTheFutureIsNotItsOwnTime) {
  std::string text;
  for (int step = 1; step <= 60; ++step) {
    text += fmt::format("[2026-11-25 10:00:{:02},100] step {}, loss 0.5\n", step - 1, step);
    if (step == 30)
      text += "[2026-11-25 10:00:29,600] Saved checkpoint at 30; run ends about 2026-11-25 11:01:31\n";
  }
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_NEAR(log.events[0].ns.value_or(0), 5e8, 1);
}

// Paddle's, which pads them.
TEST(WrittenLines, NumbersAreFilledWithBlanks) {
  std::string text;
  for (int step = 0; step <= 600; step += 100)
    text += fmt::format(
        "[12/09 10:{:02}:33] ppdet.engine INFO: Epoch: [0] [{:5}/14658] loss: 10.41 eta: 1 day, 11:56:26 "
        "batch_cost: 0.75 data_cost: 0.0003 ips: 2.7 images/s\n",
        step / 100, step);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 7u);
  EXPECT_DOUBLE_EQ(*log.iterations[1].elapsed_ns, 0.75e9);
}

// A hundred steps of 16 samples each between two lines.
TEST(WrittenLines, SamplesAreNoSteps) {
  const auto rows = [](int first, int distance) {
    std::string text;
    for (int epoch = 1; epoch <= 3; ++epoch)
      for (int at = first; at < 5011; at += distance)
        text += fmt::format("Epoch {}[{}/5011]: loss:0.7, batch time:0.5, data time:0.1\n", epoch, at);
    return LogOf(text).iterations;
  };
  const auto samples = rows(16, 1600);
  ASSERT_EQ(samples.size(), 12u);
  EXPECT_EQ(samples[1].iteration, 101);
  EXPECT_EQ(samples[4].iteration, 314) << "the second epoch's first";
  EXPECT_EQ(rows(100, 100)[1].iteration, 200) << "steps";
  EXPECT_EQ(rows(1, 1600)[1].iteration, 1601) << "steps";
  for (const char* word : {"step", "iter", "batch"}) {
    std::string text;
    for (int epoch = 1; epoch <= 3; ++epoch)
      for (int at = 10; at < 200; at += 40)
        text += fmt::format("Epoch [{}/3] {} [{}/200] loss 0.5 time 0.5\n", epoch, word, at);
    EXPECT_EQ(LogOf(text).iterations.at(1).covers, 40) << word;
  }
}

TEST(WrittenLines, AFullBarBehindTheWordTestIsAnEvaluation) {
  std::string text;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (int step = 0; step < 300; step += 100)
      text += fmt::format("Epoch {}[{}/300]: loss:0.7, batch time:0.5, data time:0.1\n", epoch, step);
    text += fmt::format("Test on Epoch {}\n  0%|     | 0/310 [00:00<?, ?it/s]\n", epoch) +
            "100%|#####| 310/310 [00:31<00:00, 11.14it/s]\n100%|#####| 310/310 [00:31<00:00, 9.69it/s]\n";
  }
  const TrainingLog log = LogOf(text);
  EXPECT_EQ(log.evaluations, 3);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 93e9);
}

TEST(WrittenLines, TimeBetweenEpochsIsOfNoStep) {
  std::string text;
  for (int minute = 0; minute < 40; ++minute)
    text += fmt::format("[12/09 10:{:02}:00] Epoch: [{}] [{}/400] loss: 10.41 batch_cost: {}\n", minute,
                        minute / 10, minute % 10 * 40, minute % 10 == 0 ? 0.25 : 1.5);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.between_epochs_ns.size(), 3u);
  EXPECT_NEAR(log.between_epochs_ns[0], 60e9 - 40 * 0.25e9, 1e9);
}

TEST(WrittenLines, RatesInThousands) {
  const auto rate = [](const char* form) {
    const TrainingLog log = LogOf(SixtyLines(form));
    return log.iterations.size() == 60 ? log.iterations[5].tokens_per_second.value_or(0) : 0;
  };
  EXPECT_DOUBLE_EQ(rate("step {} loss 2.0 step time 0.5 s tokens/sec: 12.5k"), 12'500);
  EXPECT_DOUBLE_EQ(rate("step {} loss 2.0 step time 0.5 s 1.2Mtok/s"), 1.2e6);
  EXPECT_DOUBLE_EQ(rate("step {} loss 2.0 step time 0.5 s | 1.25M tok/s"), 1'250'000);
  EXPECT_DOUBLE_EQ(rate("step {} loss 2.0 step time 0.5 s | 12.5 tok/s"), 12.5);
}

TEST(WrittenLines, MillisecondsWithoutAName) {
  ExpectStepsOf("step {} loss 2.100 | 500.0ms | 51200 tok/s | 62.1 TFLOPS", 0.5);
}

TEST(WrittenLines, TheWholeOfAStepBesideItsParts) {
  std::string text;
  for (int step = 1; step <= 60; ++step)
    text += fmt::format(
        "step: {}, loss: 0.31, data cost: 0.3{}s, forward time: 0.1s, backward time: 0.2s, "
        "total time: 0.6{}s\n",
        step, step * 7 % 10, step * 7 % 10);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 60u);
  EXPECT_NEAR(log.iterations[5].elapsed_ns.value_or(0), 0.62e9, 1e6);
  EXPECT_FALSE(log.timers.empty());
}

TEST(WrittenLines, ATimeOfSeveralSteps) {
  std::string text;
  for (int step = 100; step <= 2000; step += 100)
    text += fmt::format("Iteration {}, loss = 2.0\nTime for 100 iterations: 52.0 s\n", step);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 20u);
  EXPECT_NEAR(log.iterations[5].elapsed_ns.value_or(0), 0.52e9, 1e6);
}

TEST(WrittenLines, ATableOfPartsBetweenBars) {
  std::string text = "| step | fwd | bwd | opt | data | total |\n";
  for (int step = 0; step < 200; step += 10)
    text += fmt::format("| {} | 80.0ms | 170.0ms | 20.0ms | 30.0ms | 300.0ms |\n", step);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 20u);
  EXPECT_NEAR(log.iterations[5].elapsed_ns.value_or(0), 0.3e9, 1e6);
}

TEST(WrittenLines, EpochsWithABareTime) {
  std::string seconds, clock;
  for (int epoch = 1; epoch <= 9; ++epoch) {
    seconds += fmt::format("Epoch {:02} | loss 0.31 | acc 0.81 | 12.5s\n", epoch);
    clock += fmt::format("Epoch {} training: loss=0.4\nEpoch {} finished in 0:02:13\n", epoch, epoch);
  }
  EXPECT_NEAR(LogOf(seconds).iterations.at(3).elapsed_ns.value_or(0), 12.5e9, 1e6);
  EXPECT_NEAR(LogOf(clock).iterations.at(3).elapsed_ns.value_or(0), 133e9, 1e6);
}

TEST(WrittenLines, StepsOfTensorFlowsObjectDetectionAndOfFlax) {
  ExpectStepsOf("I0503 09:00:00.000000 139 model_lib_v2.py:705] Step {} per-step time 0.5s", 0.5);
  ExpectStepsOf("I0503 09:00:00.1 14 logging_writer.py:48] [{}] train_loss=2.1, steps_per_second=2.00", 0.5);
}

TEST(WrittenLines, RecordsOfATrainerWithoutABarHaveItsTotals) {
  std::string text = "***** Running training *****\n  Num Epochs = 3\n  Total optimization steps = 1,218\n";
  for (int step = 10; step < 1218; step += 10)
    text += fmt::format("{{'loss': 1.1, 'learning_rate': 2e-05, 'epoch': {:.3f}}}\n", step / 406.0);
  text += "{'train_runtime': 4321.5, 'train_samples_per_second': 36.1, 'epoch': 3.0}\n";
  const TrainingLog log = LogOf(text);
  ASSERT_FALSE(log.iterations.empty());
  EXPECT_EQ(log.iterations.back().iteration, 1218);
  EXPECT_FALSE(log.iterations[5].elapsed_ns);
  EXPECT_DOUBLE_EQ(log.runtime_ns.value_or(0), 4321.5e9);
}

}  // namespace
}  // namespace dladvisor
