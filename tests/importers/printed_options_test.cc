// SPDX-License-Identifier: Apache-2.0
// Options of a training as argparse, dataclasses, dictionaries and configurations print them.

#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

// The batch, the workers, half precision and compilation, "-" for what is not told.
std::string OptionsOf(const std::string& text) {
  const auto settings = test::ReadLog(text + "\n" + test::StepsOf(1, 20)).training_log.settings;
  std::string found;
  for (const char* name : {"printed_batch_size", "num_workers", "amp", "compile"}) {
    const auto setting = settings.find(name);
    found += (found.empty() ? "" : " ") + (setting == settings.end() ? "-" : setting->second);
  }
  return found;
}

TEST(PrintedOptions, OfArgparse) {
  EXPECT_EQ(
      OptionsOf("Namespace(arch='vgg16', batch_size=32, cuda=True, lr=0.0001, num_workers=0, resume=None)"),
      "32 0 - -");
  EXPECT_EQ(
      OptionsOf("2024-05-01 10:00:00 INFO args: Namespace(workers=4, batch_size=16, amp=False, epochs=90, "
                "lr=0.1, torch_compile=False)"),
      "16 4 False False");
  EXPECT_EQ(
      OptionsOf("Namespace(batch_size=8, fp16=False, fp16_opt_level='O1', local_rank=-1, seed=1, lr=5e-5)"),
      "8 - False -");
}

TEST(PrintedOptions, OfDataclassesAndDictionaries) {
  EXPECT_EQ(
      OptionsOf("TrainConfig(lr=0.1, batch_size=4, num_workers=2, use_amp=False, compile=True, seed=1)"),
      "4 2 False True");
  EXPECT_EQ(
      OptionsOf(
          "config: {'lr': 0.1, 'batch_size': 64, 'num_workers': 0, 'amp': False, 'seed': 1, 'ema': 0.9}"),
      "64 0 False -");
  EXPECT_EQ(
      OptionsOf("config: {\"lr\": 0.1, \"batch_size\": 64, \"num_workers\": 8, \"seed\": 1, \"ema\": 0.9}"),
      "64 8 - -");
}

TEST(PrintedOptions, BlameTheLeast) {
  EXPECT_EQ(
      OptionsOf("Namespace(batch_size=8, fp16=False, torch_dtype=torch.bfloat16, local_rank=-1, lr=5e-5)"),
      "8 - - -");
  EXPECT_EQ(OptionsOf("Namespace(batch_size=8, mixed_precision=None, local_rank=-1, seed=1, lr=5e-5)"),
            "8 - - -");
  EXPECT_EQ(OptionsOf("Config(model=Model(batch_size=8, compile=True, dim=64), teacher=Model(compile=False, "
                      "dim=32, depth=4))"),
            "8 - - True");
  EXPECT_EQ(
      OptionsOf(
          "config: {'lr': 0.1, 'num_workers': 0, 'batch_size': 64, 'gamma': 0.99, 'framework': 'torch'}"),
      "64 - - -");
}

TEST(PrintedOptions, AloneOnALine) {
  EXPECT_EQ(OptionsOf("               batch_size: 1                             "), "1 - - -");
  EXPECT_EQ(OptionsOf("          batch_size: 2              \t[default: 1]"), "2 - - -");
  EXPECT_EQ(OptionsOf("| batch_size | 16 |"), "16 - - -");
  EXPECT_EQ(OptionsOf("train:\n  batch_size: 16\nval:\n  batch_size: 1"), "16 - - -");
  EXPECT_EQ(OptionsOf("    samples_per_gpu=4,"), "4 - - -");
}

// Half precision by another option, a call in code, a line of results, words, and what has no number.
TEST(PrintedOptions, WhatTellsNothing) {
  EXPECT_EQ(OptionsOf("Namespace(batch_size=8, fp16=False, bf16=True, local_rank=-1, seed=1, lr=5e-5)"),
            "8 - - -");
  EXPECT_EQ(OptionsOf("Namespace(batch_size=8, amp=False, precision='bf16-mixed', seed=1, lr=5e-5, gpus=1)"),
            "8 - - -");
  EXPECT_EQ(OptionsOf("TrainConfig(batch_size=8, amp=False, dtype=torch.bfloat16, seed=1, lr=5e-5, gpus=1)"),
            "8 - - -");
  for (const char* line :
       {"loader = DataLoader(train_set, batch_size=4, shuffle=True, num_workers=0, pin_memory=True, "
        "drop_last=True)",
        "args = SimpleNamespace(batch_size=16, num_workers=1, base_url=None, file_batch_size=1, lr=0.1, a=2, "
        "b=3)",
        "Namespace(batch_size=16)", "{'loss': 0.5, 'batch_size': 8}", "eval_batch_size: 1 of 32 done",
        "max_batch_size: 4", "the batch_size: 16 is too large", "batch_size: auto", "batch_size: 0"})
    EXPECT_EQ(OptionsOf(line), "- - - -") << line;
}

}  // namespace
}  // namespace dladvisor
