// SPDX-License-Identifier: Apache-2.0
// Lines of steps of no known program, by the names and units of their values; bars of epochs; MLPerf's
// events; what ends a run and what makes it slow.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;

TrainingLog Log(const std::string& text) { return test::ReadLog(text).training_log; }

// A line for each of the steps, in which `line(step)` says it.
template <class Line>
std::string Lines(int from, int to, int distance, Line line) {
  std::string text;
  for (int step = from; step <= to; step += distance) text += line(step) + "\n";
  return text;
}

void ExpectSeconds(const TrainingLog& log, size_t row, double seconds) {
  ASSERT_GT(log.iterations.size(), row);
  ASSERT_TRUE(log.iterations[row].elapsed_ns);
  EXPECT_NEAR(*log.iterations[row].elapsed_ns, seconds * 1e9, 1e6);
}

TEST(GeneralLines, TimeAndLoadingWithTheirMeans) {
  const TrainingLog log = Log(Lines(20, 200, 20, [](int step) {
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

TEST(GeneralLines, UnitsTellWhatAValueIs) {
  ExpectSeconds(Log(Lines(0, 500, 50,
                          [](int step) {
                            return fmt::format(
                                "[{:06}/50000] loss 0.04 | GPU 98% | 4.00 it/s | ETA 254.0 min", step);
                          })),
                3, 0.25);
  ExpectSeconds(Log(Lines(0, 500, 50,
                          [](int step) {
                            return fmt::format("| epoch 1 | {}/2983 batches | ms/batch 20.5 | loss 5.1",
                                               step);
                          })),
                3, 0.0205);
  const TrainingLog log = Log(Lines(20, 400, 20, [](int step) {
    return fmt::format("Epoch[3] Batch [{}]\tSpeed: 36.22 samples/sec\tTrain-Acc=0.7", step);
  }));
  ASSERT_EQ(log.iterations.size(), 20u);
  EXPECT_EQ(log.iterations[2].samples_per_second, 36.22);
  EXPECT_FALSE(log.iterations[2].elapsed_ns) << "the size of a batch is not known";
}

// Without a date on its lines a log may tell what its epochs took: 50 steps of a second and a half, ten
// apart.
TEST(GeneralLines, EpochsTellWhatATimeIsOf) {
  const auto text = [](double of_step, double of_epoch) {
    std::string lines;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (int step = 0; step < 50; step += 10)
        lines += fmt::format("Epoch {} | Step {}/50 | Loss: 0.55 | LR: 2.1e-04 | Time: {:.3f}s\n", epoch,
                             step, of_step);
      lines += fmt::format("Epoch {} completed in {:.2f}s | Avg Loss: 0.6\n", epoch, of_epoch);
    }
    return Log(lines);
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
  const TrainingLog log = Log(text);
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
  const TrainingLog log = Log(text);
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
  const TrainingLog log = Log(text);
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
  const TrainingLog log = Log(text);
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
  const TrainingLog log = Log(text);
  ASSERT_EQ(log.iterations.size(), 32u);
  ASSERT_GE(log.events.size(), 2u);
  const auto evaluation = std::ranges::find(log.events, TrainingEventKind::kEvaluation, &TrainingEvent::kind);
  ASSERT_NE(evaluation, log.events.end());
  EXPECT_EQ(evaluation->before, 8u);
  EXPECT_DOUBLE_EQ(evaluation->ns.value_or(0), 20e9);
}

// "timer: 0.67 sec." before the line of its iteration, of SSD and what is built on it.
TEST(GeneralLines, TimerBeforeItsIteration) {
  const TrainingLog log = Log(Lines(10, 100, 10, [](int step) {
    return fmt::format(
        "Timer: 0.6700{}\nepoch:1 || iter:{} || Loss:5.2686\n->> conf loss:1.7548\n->>lr:0.0005",
        step % 20 == 0 ? " sec." : "", step);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 5, 0.67);
}

TEST(GeneralLines, TensorFlowsEstimator) {
  const TrainingLog log = Log(Lines(100, 1000, 100, [](int step) {
    return fmt::format(
        "INFO:tensorflow:global_step/sec: 4.0\nINFO:tensorflow:loss = 1.25, step = {} (25.000 sec)", step);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 2, 0.25);
}

TEST(GeneralLines, ATimeThatGrowsIsOfTheRun) {
  const TrainingLog log = Log(Lines(1, 60, 1, [](int print) {
    const int epoch = (print - 1) / 4, step = (print - 1) % 4 * 25 + 25;
    return fmt::format("Epoch {}, Step {}, total used time {:.4f} (s), avg loss so far is 0.1", epoch, step,
                       7.0 * print);
  }));
  ASSERT_EQ(log.iterations.size(), 60u);
  EXPECT_EQ(log.iterations.back().iteration, 1500);
  ExpectSeconds(log, 1, 0.28);
}

TEST(GeneralLines, WholeSecondsAreJoined) {
  const TrainingLog log = Log(Lines(50, 1000, 50, [](int step) {
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
  const TrainingLog log = Log(text);
  ASSERT_EQ(log.iterations.size(), 8u);
  ExpectSeconds(log, 3, 0.31);
}

TEST(GeneralLines, ATimeOfUnknownMeaningIsNone) {
  const TrainingLog log = Log(Lines(0, 500, 10, [](int step) {
    return fmt::format("Epoch 0 | Step {}/6501 | Loss: 8.9 | Time: 0.5s", step);
  }));
  for (const TrainingIteration& row : log.iterations) EXPECT_FALSE(row.elapsed_ns);
}

TEST(GeneralLines, TheTimesOfLinesDecide) {
  const auto line = [](int step, const char* time) {
    return fmt::format("2024-05-01 12:{:02}:{:02},500 step {} | loss 2.1 | time {}", step / 10 * 30 / 60,
                       step / 10 * 30 % 60, step, time);
  };
  ExpectSeconds(Log(Lines(10, 200, 10, [&](int step) { return line(step, "3.0 s"); })), 2, 3);
  ExpectSeconds(Log(Lines(10, 200, 10, [&](int step) { return line(step, "30.0 s"); })), 2, 3);
}

TEST(GeneralLines, ValidationsBetweenSteps) {
  std::string text;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int step = 10; step <= 40; step += 10)
      text +=
          fmt::format("epoch {} step {} loss 0.5 time {:.1f} s elapsed\n", epoch, step, epoch * 50.0 + step);
    text += fmt::format("Epoch {}, val loss is 0.04, val mse is 0.02.\n", epoch);
  }
  const TrainingLog log = Log(text);
  ASSERT_FALSE(log.events.empty());
  EXPECT_EQ(log.events[0].kind, TrainingEventKind::kEvaluation);
  EXPECT_EQ(log.events[0].before, 4u);
}

TEST(GeneralLines, LinesOfOtherProgramsAreNone) {
  EXPECT_THROW(
      Log(Lines(1, 100, 1, [](int step) { return fmt::format("step {} copied 5 files, 3.2 s", step); })),
      Error);
}

TEST(GeneralLines, EpochsOfAllAndStepsInBrackets) {
  const TrainingLog log = Log(Lines(0, 110, 10, [](int step) {
    return fmt::format("Epoch: [1/400][ {}/120]\tTime  1.867 ( 2.028)\tData  0.4 ( 0.5)\tLoss 2.1 (2.0)",
                       step);
  }));
  ASSERT_EQ(log.iterations.size(), 12u);
  EXPECT_FALSE(log.timers.empty());
  const TrainingLog other = Log(Lines(
      0, 110, 10, [](int step) { return fmt::format("Epoch 3/400 [{}/120] loss 2.1 4.0 it/s", step); }));
  ASSERT_EQ(other.iterations.size(), 12u);
  ExpectSeconds(other, 2, 0.25);
}

TEST(StepLines, EvaluationsByTheMeanOfTheirSteps) {
  std::string text;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step < 100; step += 10)
      text +=
          fmt::format("Epoch: [{}][{}/100]\tTime 1.0 (1.0)\tData 0.0 (0.0)\tLoss 2.1 (2.0)\n", epoch, step);
    text += "Test: [0/40]\tTime 4.0 (4.0)\tLoss 2.0 (2.0)\nTest: [30/40]\tTime 0.4 (0.5)\tLoss 2.0 (2.0)\n";
  }
  const TrainingLog log = Log(text);
  EXPECT_EQ(log.evaluations, 3);
  EXPECT_NEAR(log.evaluation_ns, 60e9, 1);
}

TEST(StepLines, EpochsOfAllInMmEnginesLines) {
  const TrainingLog log = Log(Lines(20, 100, 20, [](int step) {
    return fmt::format(
        "[10/20 12:23:16] trainer INFO: Epoch [1/300][{}/365]\tlr: 3e-02, time: 2.670, data_time: 2.280, "
        "loss 15.0",
        step);
  }));
  ASSERT_EQ(log.iterations.size(), 5u);
  ExpectSeconds(log, 1, 2.67);
  EXPECT_FALSE(log.timers.empty());
}

TEST(StepLines, AnEpochsFirstStepIsOne) {
  std::string text;
  for (int epoch = 0; epoch < 3; ++epoch)
    for (int step = 0; step < 100; step += 10)
      text += fmt::format("Epoch: [{}][{}/100]\tTime {} ({:.3f})\tData {} ({:.3f})\tLoss 2.1 (2.0)\n", epoch,
                          step, step == 0 ? 9.0 : 1.0, (9.0 + step) / (step + 1), step == 0 ? 8.0 : 0.0,
                          8.0 / (step + 1));
  const TrainingLog log = Log(text);
  ASSERT_EQ(log.iterations.size(), 30u);
  EXPECT_EQ(log.iterations[10].covers, 1);
  EXPECT_EQ(log.iterations[11].covers, 10);
}

TEST(Trainer, EvaluationsBesideTheTraining) {
  const char* const evaluation = "{'eval_loss': 1.0, 'eval_runtime': 20.0, 'epoch': 1.0}\n";
  const char* const totals = "{'train_runtime': 100.0, 'train_samples_per_second': 8.0, 'epoch': 2.0}\n";
  const std::string one(evaluation);
  EXPECT_EQ(Log(one + totals + one + one).evaluations, 1) << "later ones are of another run";
  EXPECT_EQ(Log(one + one + one + one + one + one + totals).evaluations, 0) << "longer than the training";
}

TEST(StepLines, OfSeveralStartsEachBeginsAnew) {
  std::string text = "AMP not enabled. Training in float32.\n";
  for (int start = 0; start < 4; ++start)
    for (int step = 0; step < 2; ++step)
      text += fmt::format(
          "2024-03-06 {:02}:00:{:02},500 train: [INFO] - Train: 0 [ {}/390 ( 0%)]  Loss: 13.42 (13.4)\n",
          10 + start, step * 20, step * 100);
  const TrainingLog log = Log(text);
  ASSERT_EQ(log.iterations.size(), 8u);
  EXPECT_EQ(log.iterations.back().attempt, 3);
  ExpectSeconds(log, 7, 0.2);
  EXPECT_EQ(log.settings.at("amp"), "False");
}

TEST(GeneralLines, ATrainingThatCountsNothingIsToldWhatToPrint) {
  try {
    Log(Lines(1, 30, 1, [](int) { return std::string("current loss: 0.25, best loss: 0.2"); }));
    ADD_FAILURE() << "was read";
  } catch (const Error& e) {
    EXPECT_THAT(e.reason(), HasSubstr("no line counts steps or epochs"));
  }
}

TEST(EpochBars, PartsOfAnEpochThatEndsInTheMiddle) {
  std::string text;
  for (int epoch = 1; epoch <= 2; ++epoch)
    for (int step = 1; step <= 200; ++step)
      text += fmt::format("Epoch {}/60:  {}%|###   | {}/445 [{:02}:{:02}<07:08,  1.03it/s, L=4.1]\r", epoch,
                          step * 100 / 445, step, step / 60, step % 60);
  const TrainingLog log = Log(text);
  EXPECT_EQ(log.program, "a program with a progress bar");
  ASSERT_GE(log.iterations.size(), 18u);
  ExpectSeconds(log, 2, 1);
  EXPECT_EQ(log.iterations[0].covers, 20);
  EXPECT_EQ(log.iterations.back().iteration, 445 + 200);
}

TEST(EpochBars, BarsOfEpochsThatNoLineNames) {
  std::string text;
  for (int epoch = 0; epoch < 6; ++epoch)
    text +=
        "training:  45%|####  | 5/11 [00:02<00:03,  2.0it/s]\rtraining: 100%|####| 11/11 [00:05<00:00,  "
        "2.0it/s]\r"
        "validating: 100%|####| 1/1 [00:01<00:00,  1.25s/it]\r\n";
  const TrainingLog log = Log(text);
  EXPECT_EQ(log.iterations.size(), 6u);
  EXPECT_EQ(log.iterations.back().iteration, 66);
  EXPECT_EQ(log.evaluations, 6);
}

TEST(EpochLines, NumbersInBracketsAndTimesWithoutUnit) {
  const TrainingLog affordance = Log(Lines(0, 9, 1, [](int epoch) {
    return fmt::format("Epoch({}) begin training........\nTrain({}), loss: 2.29, time: 415 s", epoch, epoch);
  }));
  EXPECT_TRUE(affordance.of_epochs);
  ExpectSeconds(affordance, 3, 415);
  const TrainingLog mxnet =
      Log(Lines(0, 9, 1, [](int epoch) { return fmt::format("Epoch[{}] Time cost=106.624", epoch); }));
  ExpectSeconds(mxnet, 3, 106.624);
}

TEST(Mlperf, EpochsAndEvaluations) {
  std::string text;
  for (int64_t epoch = 0, ms = 1594407138977; epoch < 4; ++epoch, ms += 70'000)
    for (const auto& [key, at] : {std::pair{"epoch_start", ms},
                                  {"epoch_stop", ms + 60'000},
                                  {"eval_start", ms + 60'000},
                                  {"eval_stop", ms + 70'000}})
      text += fmt::format(
          R"(:::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "INTERVAL_START", "key": "{}", "value": null, "metadata": {{"epoch_num": {}}}}})"
          "\n",
          at, key, epoch);
  const TrainingLog log = Log(text);
  EXPECT_EQ(log.program, "MLPerf");
  ASSERT_EQ(log.iterations.size(), 4u);
  ExpectSeconds(log, 0, 60);
  EXPECT_EQ(log.evaluations, 4);
  EXPECT_NEAR(log.evaluation_ns, 40e9, 1);
  const TrainingLog old =
      Log(":::MLL 100.000 epoch_start: {\"value\": null}\n:::MLL 101.500 epoch_stop: {\"value\": null}\n"
          ":::MLL 101.600 epoch_start: {\"value\": null}\n:::MLL 103.000 epoch_stop: {\"value\": null}\n");
  ExpectSeconds(old, 0, 1.5);
}

std::string Steps(int from, int to) {
  return Lines(from, to, 1,
               [](int step) { return fmt::format("step {} loss 2.5, 250 ms/step, lr 0.1", step); });
}

constexpr const char* kTraceback =
    "Traceback (most recent call last):\n  File \"/w/train.py\", line 20, in <module>\n    raise "
    "ValueError(\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB. \n";

TEST(Errors, TheOneThatEndsTheRun) {
  EXPECT_EQ(Log(Steps(1, 20) + kTraceback).error,
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB");
  EXPECT_EQ(Log(kTraceback + Steps(1, 20)).error, "") << "a later start went on";
  const TrainingLog none = Log(kTraceback);
  EXPECT_EQ(none.program, "a program that stopped");
  EXPECT_THROW(Log(kTraceback + Lines(1, 600, 1, [](int i) { return fmt::format("something {}", i); })),
               Error)
      << "went on";
  EXPECT_THAT(none.error, HasSubstr("out of memory"));
  EXPECT_THROW(Log("Traceback (most recent call last):\n  File \"/w/copy.py\", line 20\nOSError: no file\n"),
               Error)
      << "no training";
}

TEST(Settings, WarningsOfSlowPaths) {
  const TrainingLog log =
      Log("WARNING: constraints for invoking optimized fused softmax kernel are not met. We default back.\n"
          "FlashAttention2 is not installed. Falling back to eager attention.\n"
          "    warnings.warn(\"xFormers not available\")\n" +
          Steps(1, 20));
  EXPECT_TRUE(log.settings.contains("slow_path_softmax"));
  EXPECT_TRUE(log.settings.contains("slow_path_attention"));
  EXPECT_FALSE(log.settings.contains("slow_path_unused"));
}

TEST(Settings, AttentionIsOnASlowPathWhereItsFastOneIsWhatIsMissing) {
  for (const char* missing :
       {"Flash Attention not available, using the math kernel", "flash-attn is not installed",
        "WARNING: the package flash_attn seems to be not installed.", "`flash_attn` package not available",
        "FlashAttention (flash-attn) is not installed", "flash-attn>=2.1.0 is not installed",
        "FlashAttention-2 isn't available"})
    EXPECT_TRUE(Log(missing + ("\n" + Steps(1, 20))).settings.contains("slow_path_attention")) << missing;
  for (const char* other :
       {"Flash Attention is available. FP8 not available on this GPU.", "flash_attn ok; xla not installed",
        "Some cards are not installed: flash loader; hash lash not installed",
        "FlashAttention-3 is not available, using FlashAttention-2",
        "Flash Attention 3 not available, using PyTorch SDPA fallback",
        "Flash Attention 3 not available. Falling back to Flash Attention 2."})
    EXPECT_FALSE(Log(other + ("\n" + Steps(1, 20))).settings.contains("slow_path_attention")) << other;
}

TEST(Settings, StateThatGoesToTheHost) {
  EXPECT_EQ(Log("   'optimizer_offload': True,\n" + Steps(1, 20)).settings.at("optimizer_offload"), "True");
  EXPECT_FALSE(Log("   'param_offload': True},\n" + Steps(1, 20)).settings.contains("optimizer_offload"))
      << "of the reference";
}

TEST(Settings, NoGpuIsTheCpu) {
  EXPECT_EQ(Log("Using CPU\n" + Steps(1, 20)).settings.at("device"), "cpu");
  EXPECT_FALSE(Log("Using CPU threads to read images\n" + Steps(1, 20)).settings.contains("device"));
  EXPECT_EQ(Log("COMPUTE_DTYPE: torch.float32 (auto-detected: no CUDA (CPU/MPS))\n" + Steps(1, 20))
                .settings.at("device"),
            "cpu");
  EXPECT_EQ(Log("GPU available: True (cuda), used: False\n" + Steps(1, 20)).settings.at("device"), "cpu");
  EXPECT_EQ(Log("Using device: mps\n" + Steps(1, 20)).settings.at("device"), "MPS");
  EXPECT_FALSE(Log("no CUDA errors so far\n" + Steps(1, 20)).settings.contains("device"));
  EXPECT_EQ(Log("GPU available: False, used: False\n" + Steps(1, 20)).settings.at("gpu"), "none");
  EXPECT_EQ(Log("GPU available: True (cuda), used: False\n" + Steps(1, 20)).settings.at("gpu"), "unused");
}

TEST(Settings, NoGpuBesideAnotherAcceleratorIsNotTheCpu) {
  for (const char* of : {"TPU available: True, using: 8 TPU cores\n", "HPU available: True, using: 8 HPUs\n",
                         "IPU available: True, using: 4 IPUs\n"}) {
    const TrainingLog log = Log(std::string("GPU available: False, used: False\n") + of + Steps(1, 20));
    EXPECT_NE(log.settings.at("device"), "cpu") << of;
  }
  EXPECT_EQ(
      Log("GPU available: False, used: False\nTPU available: False, using: 0 TPU cores\n" + Steps(1, 20))
          .settings.at("device"),
      "cpu");
}

TEST(Settings, AnotherAcceleratorIsNotAGpu) {
  for (const char* of :
       {"Using device: npu:0\n",
        "/usr/local/lib/python3.10/site-packages/torch_npu/utils/storage.py:38: UserWarning: deprecated\n",
        "/root/MindSpeed/mindspeed/core/tensor_parallel/layers.py:12: UserWarning: deprecated\n",
        "  distributed_backend ............................. hccl\n"})
    EXPECT_EQ(Log(of + std::string("device: cuda\n") + Steps(1, 20)).settings.at("device"), "NPU") << of;
  EXPECT_EQ(
      Log("[INFO] [real_accelerator.py:203:get_accelerator] Setting ds_accelerator to npu (auto detect)\n" +
          Steps(1, 20))
          .settings.at("device"),
      "NPU");
  EXPECT_EQ(Log("Using device: xpu\n" + Steps(1, 20)).settings.at("device"), "XPU");
  EXPECT_FALSE(Log("No module named 'torch_npu'\n" + Steps(1, 20)).settings.contains("device"));
}

TEST(Input, HolesOfZerosWhereLinesBegin) {
  EXPECT_EQ(Log(Steps(1, 20) + std::string(5000, '\0') + Steps(21, 40)).iterations.size(), 40u);
}

}  // namespace
}  // namespace dladvisor
