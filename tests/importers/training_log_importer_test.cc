// SPDX-License-Identifier: Apache-2.0
// Logs of Megatron-LM and Hugging Face's Trainer, written by hand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ReadTrainingLog;
using test::StepsOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TrainingLog Log(const std::string& text) { return test::ReadLog(text).training_log; }

std::string LogRefusal(const std::string& text) {
  try {
    test::ReadLog(text);
  } catch (const Error& e) {
    return e.reason();
  }
  ADD_FAILURE() << "was read";
  return "";
}

std::string Line(int iteration, double ms, const std::string& more = "") {
  return fmt::format(
      " iteration {:8}/{:8} | consumed samples: {:12} | elapsed time per iteration (ms): {:.1f} | learning "
      "rate: 1.500E-04 | global batch size: {:5} | {}number of skipped iterations:   0 | number of nan "
      "iterations:   0 |",
      iteration, 1000, iteration * 4, ms, 4, more);
}

constexpr double kNsPerMs = 1e6;

TEST(MegatronLog, FusionsOfTheArguments) {
  const TrainingLog log =
      Log("  bias_gelu_fusion ................ False\n  scaled_masked_softmax_fusion .... False\n"
          "  scaled_upper_triang_masked_softmax_fusion  True\n" +
          Line(1, 1000) + "\n");
  EXPECT_EQ(log.settings.at("bias_gelu_fusion"), "False");
  EXPECT_EQ(log.settings.at("scaled_masked_softmax_fusion"), "False");
  EXPECT_EQ(log.settings.at("scaled_upper_triang_masked_softmax_fusion"), "True") << "no room for dots";
}

TEST(MegatronLog, EveryColumn) {
  const TrainingLog log = Log(
      " iteration       30/    1000 | consumed samples:          120 | elapsed time per iteration (ms): "
      "1376.1 | learning rate: 1.500E-04 | global batch size:     4 | lm loss: 2.247505E+01 | loss scale: "
      "16384.0 | grad norm: 16.999 | num zeros: 3 | number of skipped iterations:   1 | number of nan "
      "iterations:   2 |\n");
  EXPECT_EQ(log.program, "Megatron-LM");
  ASSERT_EQ(log.iterations.size(), 1u);
  const TrainingIteration& row = log.iterations[0];
  EXPECT_EQ(row.iteration, 30);
  EXPECT_EQ(row.planned, 1000);
  EXPECT_FALSE(row.covers) << "a single line does not show it";
  EXPECT_DOUBLE_EQ(*row.elapsed_ns, 1376.1 * kNsPerMs);
  EXPECT_EQ(row.consumed_samples, 120);
  EXPECT_EQ(row.global_batch, 4);
  EXPECT_DOUBLE_EQ(*row.loss, 22.47505);
  EXPECT_DOUBLE_EQ(*row.loss_scale, 16384);
  EXPECT_DOUBLE_EQ(*row.grad_norm, 16.999);
  EXPECT_DOUBLE_EQ(*row.learning_rate, 1.5e-4);
  EXPECT_EQ(row.skipped, 1);
  EXPECT_EQ(row.nan, 2);
}

TEST(MegatronLog, WithTimesRanksAndThroughput) {
  const TrainingLog log = Log(
      "3: [2024-05-01 12:00:00.250000] iteration        1/     100 | consumed samples:  32 | elapsed time "
      "per "
      "iteration (ms): 900.0 | throughput per GPU (TFLOP/s/GPU): 412.5 | lm loss: nan |\r\n"
      "[default0]:[2024-05-01 12:00:01] iteration        2/     100 | elapsed time per iteration (s): 0.5 | "
      "TFLOPs: 100.25 | samples per second: 64.5 | lm loss: 3.0 |\n"
      "host samples/sec: 5.125 | iteration 3/ 100 | elapsed time per iteration (ms): 800.0 | approx flops "
      "per GPU: 119.2TFLOPS | lm_loss: 1.5E+00 |\n");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[0].time_ns, 1714564800250000000);
  EXPECT_DOUBLE_EQ(*log.iterations[0].tflops_per_gpu, 412.5);
  EXPECT_FALSE(log.iterations[0].loss);
  EXPECT_DOUBLE_EQ(*log.iterations[1].elapsed_ns, 500 * kNsPerMs);
  EXPECT_DOUBLE_EQ(*log.iterations[1].samples_per_second, 64.5);
  EXPECT_DOUBLE_EQ(*log.iterations[2].samples_per_second, 5.125);
  EXPECT_DOUBLE_EQ(*log.iterations[2].tflops_per_gpu, 119.2);
  EXPECT_DOUBLE_EQ(*log.iterations[2].loss, 1.5);
}

TEST(MegatronLog, WhatLinesCover) {
  const auto covers = [](const std::string& text) {
    std::vector<std::pair<int64_t, int64_t>> result;
    for (const TrainingIteration& row : Log(text).iterations)
      result.emplace_back(row.iteration, row.covers.value_or(-1));
    return result;
  };
  const std::string lines = Line(10, 1) + "\n" + Line(20, 1) + "\n" + Line(40, 1) + "\n";
  EXPECT_THAT(covers(lines), ElementsAre(Pair(10, 10), Pair(20, 10), Pair(40, 10)))
      << "a lost line does not make the next one cover more";
  EXPECT_THAT(covers("  log_interval ............ 5\n" + lines),
              ElementsAre(Pair(10, 5), Pair(20, 5), Pair(40, 5)));
  EXPECT_THAT(covers(Line(1, 1) + "\n" + Line(2, 1) + "\n"), ElementsAre(Pair(1, 1), Pair(2, 1)));
}

TEST(MegatronLog, AttemptsAndCopies) {
  const TrainingLog log = Log(Line(10, 5) + "\n" + Line(10, 5) + "\n" + Line(20, 6) + "\n" + Line(10, 7) +
                              "\n" + Line(20, 8) + "\n");
  ASSERT_EQ(log.iterations.size(), 4u) << "a line printed twice counts once";
  EXPECT_EQ(log.iterations[1].attempt, 0);
  EXPECT_EQ(log.iterations[2].attempt, 1);
  EXPECT_EQ(log.iterations[3].attempt, 1);
}

TEST(MegatronLog, GluedLines) {
  const TrainingLog log = Log(
      Line(1, 10) +
      "time (ms) | forward-compute: 4.25 | batch-generator: 0.50\n"
      "[Rank 7] (after 20 iterations) memory (MB) | allocated: 1.5 | max allocated: 2.0 | reserved: 3.0 | "
      "max "
      "reserved: 4.0[Rank 16] (after 20 iterations) memory (MB) | allocated: 5.0 | max allocated: 6.0 | "
      "reserved: 7.0 | max reserved: 8.0" +
      Line(2, 20) + "[Rank 8] (after 20 iterations) memory (MB) | allocated: 1.0 | max allocated: 2.0 | " +
      "reserved: 3.0 | max reserved: 9.0time (ms) | forward-compute: 5.00\n");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(*log.iterations[1].elapsed_ns, 20 * kNsPerMs);
  ASSERT_EQ(log.memory.size(), 3u);
  EXPECT_EQ(log.memory[0].rank, 7);
  EXPECT_EQ(log.memory[0].iteration, 20);
  EXPECT_EQ(log.memory[0].allocated, test::kMiB * 3 / 2);
  EXPECT_EQ(log.memory[0].max_reserved, 4 * test::kMiB);
  EXPECT_EQ(log.memory[1].rank, 16);
  EXPECT_EQ(log.memory[1].max_allocated, 6 * test::kMiB);
  EXPECT_EQ(log.memory[2].max_reserved, 9 * test::kMiB);
  ASSERT_EQ(log.timers.size(), 3u);
  EXPECT_EQ(log.timers[0].name, "forward-compute");
  EXPECT_EQ(log.timers[0].row, 0u);
  EXPECT_DOUBLE_EQ(*log.timers[0].ns, 4.25 * kNsPerMs);
  EXPECT_EQ(log.timers[2].row, 1u);
  EXPECT_DOUBLE_EQ(*log.timers[2].ns, 5 * kNsPerMs);
}

TEST(MegatronLog, TimersAcrossRanks) {
  const TrainingLog log =
      Log("(min, max) time across ranks (ms):\n    load-checkpoint ................................: (1.00, "
          "2.00)\n" +
          Line(1, 10) +
          "\n"
          "(min, max) time across ranks (ms):\n"
          "    forward-backward ...............................: (5023.11, 5023.42)\n"
          "    batch-generator ................................: (1.25, 300.50)\n" +
          Line(2, 10) +
          "\n"
          "max time across ranks (ms):\n"
          "    optimizer ......................................: 7.50\n"
          "times across ranks (ms):\n"
          "  all-grads-sync:\n"
          "     rank  0: 12.10\n"
          "     rank  1: 14.30\n"
          "something else\n"
          "     rank  2: 99.00\n");
  ASSERT_EQ(log.timers.size(), 5u) << "those of the start are left out";
  EXPECT_EQ(log.timers[0].name, "forward-backward");
  EXPECT_FALSE(log.timers[0].ns);
  EXPECT_DOUBLE_EQ(*log.timers[0].min_ns, 5023.11 * kNsPerMs);
  EXPECT_DOUBLE_EQ(*log.timers[1].max_ns, 300.5 * kNsPerMs);
  EXPECT_EQ(log.timers[2].row, 1u);
  EXPECT_DOUBLE_EQ(*log.timers[2].max_ns, 7.5 * kNsPerMs);
  EXPECT_FALSE(log.timers[2].min_ns);
  EXPECT_EQ(log.timers[4].name, "all-grads-sync");
  EXPECT_EQ(log.timers[4].rank, 1);
  EXPECT_DOUBLE_EQ(*log.timers[4].ns, 14.3 * kNsPerMs);
}

// Between the lines of a block, of the task that prints it, stand those of others.
TEST(MegatronLog, TimersBehindTheNumberOfTheirTask) {
  for (const std::string task : {"55: ", "[default7]:"}) {
    const std::string other = task == "55: " ? " 0: " : "[default0]:";
    const TrainingLog log =
        Log(task + " " + Line(1, 10) + "\n" + task + "(min, max) time across ranks (ms):\n" + task +
            "    forward-backward ...: (5023.11, 5023.42)\n" + other + "    optimizer ....: (1.00, 2.00)\n" +
            other + "a line of another task\n" + task + "    batch-generator ...: (1.25, 300.50)\n" + task +
            "the end\n" + task + "    optimizer ....: (1.00, 2.00)\n");
    ASSERT_EQ(log.timers.size(), 2u) << task;
    EXPECT_EQ(log.timers[0].name, "forward-backward");
    EXPECT_EQ(log.timers[1].name, "batch-generator");
    EXPECT_DOUBLE_EQ(*log.timers[1].max_ns, 300.5 * kNsPerMs);
  }
}

TEST(MegatronLog, WhatHappensBetweenLines) {
  const TrainingLog log = Log(
      Line(10, 1) + "\nsaving checkpoint at iteration      10 to /data\n" +
      "  successfully saved checkpoint at iteration      10 to /data\ntime (ms) | save-checkpoint: 1200.5\n" +
      Line(20, 1) +
      "\n validation loss at iteration 20 | lm loss value: 8.0E+00 | lm loss PPL: 3.0E+03 | \n" +
      Line(30, 1) + "\n");
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].before, 1u);
  EXPECT_EQ(log.events[0].kind, TrainingEventKind::kCheckpoint);
  EXPECT_EQ(log.events[1].before, 2u);
  EXPECT_EQ(log.events[1].kind, TrainingEventKind::kEvaluation);
  EXPECT_THAT(log.timers, IsEmpty());
}

TEST(MegatronLog, Stragglers) {
  const TrainingLog log = Log(
      Line(1, 10) +
      "\n 0: INFO:megatron.core.utils:[2024-03-14 23:07:56] | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: "
      "3468.20ms/0 | MnUtl/Rnk: 97%/8 | MxUtl/Rnk: 100%/6 | MnClk/Rnk: 1950MHz/28 | MnEtpt/Rnk: 296.02TF/0 "
      "| MxEtpt/Rnk: 297.32TF/8\n");
  ASSERT_EQ(log.extremes.size(), 3u) << "a metric without its other end is left out";
  const TrainingExtreme& throughput = log.extremes[0];
  EXPECT_EQ(throughput.metric, "Etpt");
  EXPECT_EQ(throughput.unit, "TF");
  EXPECT_DOUBLE_EQ(throughput.min, 296.02);
  EXPECT_EQ(throughput.min_rank, 0);
  EXPECT_EQ(throughput.max_rank, 8);
  EXPECT_EQ(log.extremes[2].metric, "Utl");
  EXPECT_EQ(log.extremes[2].unit, "%");
}

TEST(MegatronLog, ArgumentsThatMatterAndNoOthers) {
  const Trace trace = test::ReadLog(
      "using world size: 16, data-parallel-size: 1, tensor-model-parallel size: 4, pipeline-model-parallel "
      "size: 4 \n"
      "  data_path ....................................... ['/secret/place']\n"
      "  micro_batch_size ................................ 4\n"
      "[0]:  fp16 ............................................ True\n"
      "  wandb_api_key ................................... abc\n"
      "[2021-06-10 20:47:51,887] [INFO] [config.py:904:print]   world_size ................... 1\n"
      "[2021-06-10 20:47:51,887] [INFO] [config.py:904:print]   train_micro_batch_size_per_gpu  4\n" +
      Line(1, 10) + "\n");
  EXPECT_THAT(trace.training_log.settings,
              UnorderedElementsAre(Pair("world_size", "16"), Pair("data_parallel_size", "1"),
                                   Pair("tensor_model_parallel_size", "4"),
                                   Pair("pipeline_model_parallel_size", "4"), Pair("micro_batch_size", "4"),
                                   Pair("fp16", "True"), Pair("train_micro_batch_size_per_gpu", "4")));
  EXPECT_EQ(trace.world_size, 16);
  EXPECT_EQ(trace.format, "training log");
}

TEST(MegatronLog, ATableOfNvidiaSmiTellsTheGpus) {
  const std::string table =
      "| NVIDIA-SMI 460.32.03    Driver Version: 460.32.03    CUDA Version: 11.2     |\n"
      "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
      "|   0  Tesla V100-SXM2...  Off  | 00000000:1A:00.0 Off |                    0 |\n"
      "| N/A   46C    P0    44W / 300W |      0MiB / 32510MiB |      0%      Default |\n";
  const Trace once = test::ReadLog(table + Line(1, 10) + "\n");
  EXPECT_EQ(once.telemetry.size(), 0u) << "idle GPUs before the start are no telemetry of the training";
  ASSERT_EQ(once.devices.size(), 1u);
  EXPECT_EQ(once.devices[0].memory_bytes, 32510 * test::kMiB);
  EXPECT_EQ(once.facts.at("driver_version"), "460.32.03");
  EXPECT_THAT(once.health.notes, IsEmpty());
  EXPECT_GT(test::ReadLog(table + Line(1, 10) + "\n" + table).telemetry.size(), 0u);
  EXPECT_EQ(test::ReadLog(table).format, "nvidia-smi");
}

TEST(MegatronLog, CutLines) {
  const std::string whole = Line(1, 1000.5);
  for (size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(whole.substr(0, size));
    const TrainingLog log = Log(Line(1, 900) + "\n" + Line(2, 1000.5).substr(0, size));
    ASSERT_LE(log.iterations.size(), 2u);
    if (log.iterations.size() == 2 && log.iterations[1].elapsed_ns) {
      EXPECT_DOUBLE_EQ(*log.iterations[1].elapsed_ns, 1000.5 * kNsPerMs) << "a cut number is no number";
    }
  }
  EXPECT_EQ(Log(Line(1, 900) + "\ntime (ms) | forward-compute: 12.5 | optimizer: 3").timers.size(), 1u);
}

TEST(MegatronLog, DocumentsAreNoLogs) {
  EXPECT_THAT(LogRefusal("# Results\n```\n" + Line(10, 5) + "\n```\n"), HasSubstr("quotes lines"));
}

TEST(TrainerLog, ProgressBarAndTotals) {
  const Trace trace = test::ReadLog(
      "[INFO|trainer.py:1147] 2021-05-25 06:30:55,346 >>   Total train batch size (w. parallel, distributed "
      "& "
      "accumulation) = 256\n"
      "[INFO|trainer.py:1149] 2021-05-25 06:30:55,346 >>   Total optimization steps = 4\n"
      "100%|##| 1000/1000 [00:10<00:00, 99.1it/s]\n"
      "\r  0%|          | 0/4 [00:00<?, ?it/s]\r 25%|##5       | 1/4 [03:45<11:15, 225.28s/it]"
      "\r 25%|##5       | 1/4 [03:46<11:15, 226.28s/it]{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.25}\n"
      "\r 50%|#####     | 2/4 [07:15<07:21, 220.73s/it]\r 75%|#######5  | 3/4 [10:50<03:39, 219.16s/it]"
      "\r100%|##########| 4/4 [1:14:31<00:00, 219.64s/it]\n"
      "{'train_runtime': 4471.787, 'train_samples_per_second': 1.147, 'train_steps_per_second': 0.005}\n"
      "{'train_runtime': 4471.9, 'train_samples_per_second': 1.2, 'train_steps_per_second': 0.005}\n");
  const TrainingLog& log = trace.training_log;
  EXPECT_EQ(log.program, "Hugging Face Trainer");
  ASSERT_EQ(log.iterations.size(), 4u);
  EXPECT_DOUBLE_EQ(*log.iterations[0].elapsed_ns, 225e9) << "of the first process that says so";
  EXPECT_DOUBLE_EQ(*log.iterations[0].loss, 2.5);
  EXPECT_DOUBLE_EQ(*log.iterations[1].elapsed_ns, 210e9);
  EXPECT_FALSE(log.iterations[1].loss);
  EXPECT_DOUBLE_EQ(*log.iterations[3].elapsed_ns, (4471.0 - 650.0) * 1e9);
  EXPECT_DOUBLE_EQ(*log.runtime_ns, 4471.787e9);
  EXPECT_DOUBLE_EQ(*log.samples_per_second, 1.147);
  EXPECT_EQ(log.settings.at("train_batch_size"), "256");
}

// A bar that is drawn often first shows a second when it begins: rows of a training of few seconds.
// All values may be strings.
TEST(TrainerLog, StepsOfAShortTraining) {
  std::string text;
  for (int step = 0; step <= 150; ++step) {
    text += fmt::format("\r {}%|#    | {}/150 [00:{:02}<00:10,  9.9it/s]", step * 100 / 150, step,
                        (step * 100 + 2000 * (step > 0)) / 1000);
    if (step == 25) text += "\n{'loss': '10.84', 'learning_rate': '4.2e-05', 'epoch': '0.1667'}\n";
  }
  const TrainingLog log = ReadTrainingLog(
      text + "\n{'train_runtime': '17.0', 'train_samples_per_second': '70.6', 'epoch': '1'}\n");
  EXPECT_EQ(log.program, "Hugging Face Trainer");
  EXPECT_DOUBLE_EQ(log.runtime_ns.value_or(0), 17e9);
  ASSERT_GE(log.iterations.size(), 5u);
  EXPECT_EQ(log.iterations[1].loss, 10.84);
  // The first has the start in it.
  EXPECT_GT(log.iterations[0].elapsed_ns.value_or(0), 0.15e9);
  for (size_t row = 1; row < log.iterations.size(); ++row) test::ExpectSeconds(log, row, 0.1);
  // At every third step.
  text.clear();
  for (int step = 0; step <= 300; step += 3)
    text += fmt::format("\r {}%|#    | {}/300 [00:{:02}<00:10,  30it/s]", step / 3, step, step / 30);
  const TrainingLog fast = ReadTrainingLog(text + "\n{'train_runtime': '10.0', 'epoch': '1'}\n");
  ASSERT_GE(fast.iterations.size(), 3u);
  test::ExpectSeconds(fast, 1, 1 / 30.0);
}

TEST(TrainingLogImporter, TokensOfAnUpdateAreThoseSinceTheRecordBefore) {
  std::string text = "  0%|          | 0/40 [00:00<?, ?it/s]\n";
  for (int step = 10; step <= 40; step += 10)
    text += fmt::format(
        " {}%|##   | {}/40 [{:02}:{:02}<00:10,  2.00s/it]\n{{'loss': '2.5', 'num_tokens': '{}', 'epoch': "
        "'0.5'}}\n",
        step * 5 / 2, step, step * 2 / 60, step * 2 % 60, 1800 * step);
  const TrainingLog log = test::ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 4u);
  EXPECT_FALSE(log.iterations[0].tokens_per_second) << "what was before the first is not known";
  EXPECT_DOUBLE_EQ(log.iterations[2].tokens_per_second.value_or(0), 900);
}

TEST(TrainerLog, ShortIterationsAreTakenTogether) {
  std::string text = "Total optimization steps = 100\n";
  for (int i = 2; i <= 100; i += 2)
    text += fmt::format("\r{}%|#| {}/100 [00:{:02}<00:01, 2.0it/s]", i, i, i / 2);
  const TrainingLog log = Log(text + "\n");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[0].iteration, 40);
  EXPECT_EQ(log.iterations[0].covers, 40);
  EXPECT_DOUBLE_EQ(*log.iterations[0].elapsed_ns, 0.5e9);
  EXPECT_EQ(log.iterations[1].iteration, 80);
}

TEST(TrainingLogs, TheDeviceThatTheyName) {
  const std::string steps =
      "iter 10: loss 9.5, time 135.20ms, mfu 1%\niter 20: loss 9.5, time 135.20ms, mfu 1%\n";
  const auto device = [&](const std::string& line) {
    const auto settings = test::ReadLog(line + "\n" + steps).training_log.settings;
    return settings.contains("device") ? settings.at("device") : "";
  };
  EXPECT_EQ(device("2026-02-03 | INFO | Using device: cpu"), "cpu");
  EXPECT_EQ(device("Training started on cpu"), "cpu");
  EXPECT_EQ(device("Device: CPU"), "cpu");
  EXPECT_EQ(device("device(type='cuda', index=0)"), "gpu");
  EXPECT_EQ(device("model device: cpu\nUsing device: cuda"), "gpu");
  EXPECT_EQ(device("device placement of cpu tensors"), "");
}

TEST(TrainingLogs, OtherTextsAreNone) {
  EXPECT_THAT(LogRefusal("Hello\nworld | iteration\n"), HasSubstr("not a profile"));
  EXPECT_THAT(LogRefusal("iteration 1/2 | nothing: told |\n"), HasSubstr("not a profile"));
  EXPECT_THAT(LogRefusal("  micro_batch_size ....... 4\ntime (ms) | load-checkpoint: 0.35\n"),
              HasSubstr("not a profile"));
}

TEST(TrainingLogs, DamageDoesNoHarm) {
  const std::string good =
      "  log_interval ....... 10\n" + Line(10, 5, "lm loss: 1.0 | loss scale: 4.0 | ") +
      "\ntime (ms) | forward-compute: 4.25 | batch-generator: 0.50\n"
      "(min, max) time across ranks (ms):\n    optimizer ....: (5.11, 6.42)\n"
      "[Rank 7] (after 20 iterations) memory (MB) | allocated: 1.5 | max allocated: 2.0 | reserved: 3.0 | "
      "max "
      "reserved: 4.0\nMnRtt/Rnk: 1.0ms/8 | MxRtt/Rnk: 2.0ms/0\n"
      "steps: 10 loss: 9.5 iter time (s): 1.2 samples/sec: 204.8\nTotal optimization steps = 4\n"
      "\r 25%|##5       | 1/4 [03:45<11:15, 225.28s/it]{'loss': 2.5, 'epoch': 0.25}\n" +
      Line(20, 6) + "\n";
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text = good;
    for (int i = 0; i < 8; ++i) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>('!' + random() % 90);
          break;
        case 1:
          text.erase(at, random() % 20);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
    }
    try {
      test::ReadLog(text);
    } catch (const Error& e) {
      EXPECT_FALSE(e.reason().empty());
    }
  }
}

TEST(TrainingLogImporter, CountsWhatDeepSpeedSaysOfTheAllocator) {
  const auto step = [](int number) {
    return fmt::format(
        "[2025-10-28 20:51:32,092] [WARNING] [stage3.py:2165:step] 2 pytorch allocator cache flushes since "
        "last step.\n"
        "[2025-10-28 20:51:32,092] [INFO] [timer.py:264:stop] epoch=0/micro_step={0}/global_step={0}, "
        "RunningAvgSamplesPerSec=7.2, CurrSamplesPerSec=7.5, MemAllocated=12.99GB\n",
        number);
  };
  EXPECT_EQ(test::ReadLog(step(1) + step(2) + step(3)).training_log.flushed_iterations, 3);
}

TEST(Trainer, EvaluationsBesideTheTraining) {
  const char* const evaluation = "{'eval_loss': 1.0, 'eval_runtime': 20.0, 'epoch': 1.0}\n";
  const char* const totals = "{'train_runtime': 100.0, 'train_samples_per_second': 8.0, 'epoch': 2.0}\n";
  const std::string one(evaluation);
  EXPECT_EQ(ReadTrainingLog(one + totals + one + one).evaluations, 1) << "later ones are of another run";
  EXPECT_EQ(ReadTrainingLog(one + one + one + one + one + one + totals).evaluations, 0)
      << "longer than the training";
}

TEST(Input, HolesOfZerosWhereLinesBegin) {
  EXPECT_EQ(ReadTrainingLog(StepsOf(1, 20) + std::string(5000, '\0') + StepsOf(21, 40)).iterations.size(),
            40u);
  // Longer than what is read at once, and before the first line.
  EXPECT_EQ(ReadTrainingLog(std::string(300'000, '\0') + StepsOf(1, 20) + std::string(150'000, '\0') +
                            StepsOf(21, 40))
                .iterations.size(),
            40u);
}

TEST(TrainingLogImporter, EvaluationsOfNanoGpt) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    if (i % 10 == 0) text += fmt::format("step {}: train loss 2.1012, val loss 2.2013\n", i);
    text += fmt::format("iter {}: loss 2.3011, time 101.22ms, mfu 10.10%\n", i);
  }
  EXPECT_GE(
      std::ranges::count(test::LogOf(text).events, TrainingEventKind::kEvaluation, &TrainingEvent::kind), 3);
}

// Scripts of diffusers announce a training in the words of the Trainer.
TEST(TrainingLogImporter, AScriptOfDiffusersIsNotTheTrainer) {
  std::string text =
      "05/12/2024 10:11:12 - INFO - __main__ - ***** Running training *****\n"
      "05/12/2024 10:11:12 - INFO - __main__ -   Total optimization steps = 300\n";
  for (int i = 0; i <= 300; i += 4)
    text +=
        fmt::format("\rSteps: {:3d}%|##| {}/300 [{:02}:{:02}<10:00,  1.30s/it, lr=0.0001, step_loss=0.03]",
                    i / 3, i, i * 13 / 10 / 60, i * 13 / 10 % 60);
  EXPECT_EQ(test::LogOf(text + "\n").program, "a training script of diffusers");
}

}  // namespace
}  // namespace dladvisor
