// SPDX-License-Identifier: Apache-2.0
// What lines beside those of the steps say of rates, skipped updates and the model.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::LinesOf;
using test::ReadTrainingLog;
using test::StepsOf;

std::string MegatronStep(int step) {
  return fmt::format(
      " iteration {:8}/    1000 | elapsed time per iteration (ms): 125912.4 | learning rate: 3.750E-05 | lm "
      "loss: 1.2E+01 | loss scale: 1024.0 |",
      step);
}

TEST(RateLines, OfEachGpuBehindTheLineOfTheStep) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 3, 1, [](int step) {
    return MegatronStep(step) +
           fmt::format("\nEffective Tera Flops per GPU: {}.5 and total parameters 52.005 B", 40 + step);
  }));
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_DOUBLE_EQ(log.iterations[1].tflops_per_gpu.value_or(0), 42.5);
  EXPECT_EQ(log.settings.at("model_parameters"), "52005000000");
}

TEST(RateLines, OfAllGpusIsNoneOfEach) {
  const TrainingLog log = ReadTrainingLog(
      LinesOf(1, 3, 1, [](int step) { return MegatronStep(step) + "\nmodel TFLOPs: 410.2, peak 989"; }));
  EXPECT_FALSE(log.iterations.at(0).tflops_per_gpu);
}

TEST(RateLines, UpdatesThatDeepSpeedSkips) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 20, 1, [](int step) {
    std::string text;
    // All ranks may say it.
    if (step == 1 || step == 2)
      for (int rank = 0; rank < 2; ++rank)
        text += fmt::format(
            "[2025-01-01 00:00:00,000] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank "
            "{} "
            "Skipping step. Attempted loss scale: {}, reducing to {}\n",
            rank, 65536 >> step, 32768 >> step);
    return text + StepsOf(step, step);
  }));
  ASSERT_GE(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[0].skipped, 1);
  EXPECT_EQ(log.iterations[1].skipped, 1);
  EXPECT_EQ(log.iterations[2].skipped, 0);
}

TEST(RateLines, ActivationsThatAreComputedAgainByAnyWords) {
  for (const char* words :
       {"  gradient_checkpointing: true", "'enable_gradient_checkpointing': True,",
        "--gradient_checkpointing",
        "--config_overrides n_embd=1024,n_layer=24,gradient_checkpointing=true,use_cache=False",
        "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.",
        "[titan] - root - INFO - Applied full activation checkpointing to the model"}) {
    const TrainingLog log = ReadTrainingLog(std::string(words) + "\n" + StepsOf(1, 20));
    ASSERT_TRUE(log.settings.contains("checkpoint_activations")) << words;
    EXPECT_EQ(log.settings.at("checkpoint_activations"), "True") << words;
  }
  const TrainingLog log = ReadTrainingLog("\"gradient_checkpointing\": false,\n" + StepsOf(1, 20));
  EXPECT_EQ(log.settings.at("checkpoint_activations"), "False");
  EXPECT_FALSE(ReadTrainingLog("Saved checkpoint, gradient norm 1.0\n" + StepsOf(1, 20))
                   .settings.contains("checkpoint_activations"));
  const TrainingLog host = ReadTrainingLog(
      "[INFO] [checkpointing.py:401:forward] ----Partition Activations True, CPU CHECKPOINTING True\n"
      "[INFO] [checkpointing.py:407:forward] ----Synchronization True\n" +
      StepsOf(1, 20));
  EXPECT_EQ(host.settings.at("activations_on_host"), "True");
  EXPECT_EQ(host.settings.at("checkpoint_synchronizes"), "True");
}

TEST(RateLines, ParametersOfTheModel) {
  const auto parameters = [](const std::string& line) {
    const TrainingLog log = ReadTrainingLog(line + "\n" + StepsOf(1, 20));
    const auto known = log.settings.find("model_parameters");
    return known == log.settings.end() ? std::string() : known->second;
  };
  EXPECT_EQ(parameters("number of parameters: 123.59M"), "123590000");
  EXPECT_EQ(parameters("  Number of trainable parameters = 1,235,814,400"), "1235814400");
  EXPECT_EQ(parameters("trainable params: 4,194,304 || all params: 8,034,455,552 || trainable%: 0.0522"),
            "8034455552");
  EXPECT_EQ(parameters(" > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 805560320\n"
                       " > number of parameters on (tensor, pipeline) model parallel rank (1, 0): 805560320\n"
                       " > number of parameters on (tensor, pipeline) model parallel rank (1, 0): 805560320"),
            "1611120640");
  EXPECT_EQ(parameters("number of parameters updated 3 times"), "");
}

}  // namespace
}  // namespace dladvisor
