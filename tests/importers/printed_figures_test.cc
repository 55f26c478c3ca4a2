// SPDX-License-Identifier: Apache-2.0
// Times and rates that a program prints by name.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ReadProgram;
using test::RefusalOf;
using testing::HasSubstr;

TEST(PrintedFigures, TimesByTheirSum) {
  const ProgramOutput output = ReadProgram(
      "load_model took 0.40 s\nask_model took 2.5 s\nspeak took 700 ms\n-----\n"
      "ask_model took 3.5 seconds\nspeak took 650 ms\nTotal time of answer was 12.25 s\n");
  ASSERT_EQ(output.figures.size(), 4u);
  EXPECT_EQ(output.figures[0].name, "Total time of answer");
  EXPECT_EQ(output.figures[1].name, "ask_model");
  EXPECT_EQ(output.figures[1].count, 2);
  EXPECT_DOUBLE_EQ(output.figures[1].sum, 6e9);
  EXPECT_DOUBLE_EQ(output.figures[1].most, 3.5e9);
  EXPECT_FALSE(output.timed());
}

TEST(PrintedFigures, NumbersThatFollowOneAnotherCountRounds) {
  std::string text;
  for (int batch = 0; batch < 300; ++batch)
    text += fmt::format("Batch {} - Forward time: 0.1s, Post-processing time: 0.001s\n", batch);
  const ProgramOutput output = ReadProgram(text + "Total time: 32.5s\n");
  ASSERT_EQ(output.figures.size(), 3u);
  EXPECT_EQ(output.figures[1].name, "Batch # - Forward time");
  EXPECT_EQ(output.figures[1].count, 300);
  EXPECT_NEAR(output.figures[1].sum, 30e9, 1e6);
}

TEST(PrintedFigures, AClockThatRunsIsNoPart) {
  std::string text;
  for (int batch = 0; batch < 40; ++batch)
    text += fmt::format("Forward took 0.{}s\nElapsed time: {}.5s\nstep time {}.25 s\n", 5 + batch % 3, batch,
                        2 * batch);
  const ProgramOutput output = ReadProgram(text + "Total time: 40.5s\n");
  ASSERT_EQ(output.figures.size(), 2u);
  EXPECT_EQ(output.figures[0].name, "Total time");
  EXPECT_EQ(output.figures[1].name, "Forward");
}

// Sizes, and what is tried with each.
TEST(PrintedFigures, NumbersThatDoNotFollowOneAnotherAreNames) {
  std::string text;
  for (int size = 1; size <= 64; size *= 2)
    text += fmt::format("Size {} - Forward time: 0.{}s\n", size, 10 + size);
  EXPECT_EQ(ReadProgram(text).figures.size(), 7u);
}

TEST(PrintedFigures, NamesInBrackets) {
  const ProgramOutput output = ReadProgram(
      "--- Model ---\n  [model_build] 1.1013 s\n  [pipeline_compile] 10.3158 s\n  [steady_x10] 59.4 ms\n");
  ASSERT_EQ(output.figures.size(), 3u);
  EXPECT_EQ(output.figures[0].name, "pipeline_compile");
  EXPECT_NEAR(output.figures[0].sum, 10.3158e9, 1e3);
}

TEST(PrintedFigures, RatesFirstWhereverTheirUnitStands) {
  const ProgramOutput output = ReadProgram(
      "INFO:root:Prefill Latency: 752.738459ms\nDecode Throughput: 465.9 tok/s\n"
      "Output token throughput (tok/s):         1,410.40\nMean TTFT (ms):   193.5\n");
  ASSERT_EQ(output.figures.size(), 4u);
  EXPECT_EQ(output.figures[0].name, "Decode Throughput");
  EXPECT_EQ(output.figures[0].unit, "tokens/s");
  EXPECT_DOUBLE_EQ(output.figures[1].sum, 1410.4);
  EXPECT_EQ(output.figures[2].name, "Prefill Latency");
  EXPECT_EQ(output.figures[3].name, "Mean TTFT");
}

TEST(PrintedFigures, ARateThatGrowsWithWhatIsWorkedOnAtOnce) {
  const ProgramOutput output =
      ReadProgram("  bs=1  mean=573.5ms  tokens/s=55.8\n  bs=16  mean=627.5ms  tokens/s=815.9\n");
  ASSERT_TRUE(output.scaling);
  EXPECT_EQ(output.scaling->few, 1);
  EXPECT_EQ(output.scaling->many, 16);
  EXPECT_DOUBLE_EQ(output.scaling->fast, 815.9);
  EXPECT_FALSE(ReadProgram("model a c=1 decode=22.1 tok/s\nmodel a c=4 decode=18.3 tok/s\n").scaling);
}

// Of a loop that tells when it learns, and not how long that takes.
TEST(PrintedFigures, PartsOfATrainingWithoutTimes) {
  std::string parts, steps;
  for (int step = 1; step <= 6; ++step) {
    const std::string line = fmt::format("[step {}] avg_loss=0.{} acc=0.5\n", step, step);
    steps += line;
    parts +=
        line + "Sampling:          60.0s\nBackward:          20.5s\n[timing] sample processed in 81.25s\n";
  }
  const Trace timed = test::ReadLog(parts);
  EXPECT_TRUE(timed.training_log.empty());
  ASSERT_EQ(timed.program_output.figures.size(), 3u);
  EXPECT_EQ(timed.program_output.figures[1].name, "Sampling");
  EXPECT_EQ(timed.program_output.figures[1].count, 6);
  EXPECT_FALSE(test::ReadTrainingLog(steps + "Loading took 3.5 s\n").empty());
}

TEST(PrintedFigures, RoundsByTheSumOfAll) {
  const ProgramOutput output = ReadProgram(
      "prefill time: 1.25 seconds\ndecode step 0 time: 0.75 seconds\ndecode step 1 time: 0.5 seconds\n"
      "decode step 2 time: 0.5 seconds\nbatch 8 latency: 0.25 s\nbatch 16 latency: 0.375 s\n");
  ASSERT_EQ(output.figures.size(), 4u);
  EXPECT_EQ(output.figures[0].name, "decode step time");
  EXPECT_EQ(output.figures[0].count, 3);
  EXPECT_DOUBLE_EQ(output.figures[0].sum, 1.75e9);
  EXPECT_EQ(output.figures[1].name, "prefill time");
  EXPECT_EQ(output.figures[2].name, "batch 16 latency");
}

TEST(PrintedFigures, PartsOfALineWithoutSigns) {
  std::string text;
  for (int i = 1; i <= 10; ++i)
    text +=
        fmt::format("Frame {}: capture 33.5ms, inference 21.5ms, nms 12.5 ms, total 78.5ms (12.7 FPS)\n", i);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_EQ(output.figures.size(), 4u);
  EXPECT_EQ(output.figures[0].name, "total");
  EXPECT_EQ(output.figures[1].name, "capture");
  EXPECT_EQ(output.figures[1].count, 10);
  EXPECT_DOUBLE_EQ(output.figures[1].sum, 335e6);
}

// As Ultralytics prints them.
TEST(PrintedFigures, TimesBeforeTheirNames) {
  const ProgramOutput output = ReadProgram(
      "model loaded in 4.5 seconds\nSpeed: 45.5ms preprocess, 15.5ms inference, 2.5ms postprocess per image "
      "at "
      "shape (1, 3, 640, 480)\n");
  ASSERT_EQ(output.figures.size(), 4u);
  EXPECT_EQ(output.figures[1].name, "preprocess");
  EXPECT_DOUBLE_EQ(output.figures[1].sum, 45.5e6);
  EXPECT_EQ(output.figures[3].name, "postprocess");
}

TEST(PrintedFigures, AnswersOfTheSameLength) {
  const ProgramOutput output = ReadProgram(
      "Generated 256 tokens in 20.5 seconds (12.5 tokens/s)\nGenerated 128 tokens in 10.5 seconds (12.2 "
      "tokens/s)\n");
  ASSERT_EQ(output.figures.size(), 2u);
  EXPECT_EQ(output.figures[0].unit, "tokens/s");
  EXPECT_DOUBLE_EQ(output.figures[0].least, 12.2);
  EXPECT_EQ(output.figures[1].name, "Generated tokens");
  EXPECT_DOUBLE_EQ(output.figures[1].sum, 31e9);
}

TEST(PrintedFigures, NamesThatEndWithTheirUnit) {
  const ProgramOutput output = ReadProgram(
      "10:00:01 INFO request done preprocess_ms=40.5 inference_ms=11.5 total_ms=55.5\n"
      "10:00:02 INFO request done preprocess_ms=40.5 inference_ms=11.5 total_ms=55.5\n");
  ASSERT_EQ(output.figures.size(), 3u);
  EXPECT_EQ(output.figures[1].name, "preprocess");
  EXPECT_DOUBLE_EQ(output.figures[1].sum, 81e6);
}

TEST(PrintedFigures, ALevelIsNoPartOfAName) {
  const ProgramOutput output = ReadProgram(
      "10:00:01 INFO decode: 110.5 ms, inference: 12.5 ms\n10:00:02 INFO decode: 110.5 ms, inference: 12.5 "
      "ms\n");
  ASSERT_FALSE(output.figures.empty());
  EXPECT_EQ(output.figures[0].name, "decode");
}

TEST(PrintedFigures, APartOfAWholeIsNoName) {
  const ProgramOutput output = ReadProgram(
      "Batch 1/500 processed in 1.25 seconds\nBatch 2/500 processed in 1.5 seconds\nBatch 3/500 processed in "
      "1.75 seconds\n");
  ASSERT_EQ(output.figures.size(), 1u);
  EXPECT_EQ(output.figures[0].name, "Batch processed");
  EXPECT_EQ(output.figures[0].count, 3);
}

TEST(PrintedFigures, WhatIsCountedIsNoName) {
  const ProgramOutput output =
      ReadProgram("Slow: 128 tokens in 1.64s (78.2 tok/s)\nFast: 128 tokens in 0.28s (459.1 tok/s)\n");
  ASSERT_EQ(output.figures.size(), 2u);
  EXPECT_EQ(output.figures[0].name, "Slow");
  EXPECT_DOUBLE_EQ(output.figures[0].sum, 78.2);
}

TEST(PrintedFigures, AProgramOnTheHostSaysSo) {
  EXPECT_TRUE(ReadProgram("Model device: cpu\nDecode: 1.1 tokens/s\nPrefill: 9.5 tokens/s\n").on_host);
  EXPECT_FALSE(ReadProgram("Using device: cuda:0\nOn cpu: 9.5 s\nDecode: 1.1 tokens/s\n").on_host);
}

TEST(PrintedFigures, OfTextsThatAreNoOutputNone) {
  const std::string figures = "Decode throughput: 465.9 tok/s\nPrefill latency: 752.7 ms\n";
  EXPECT_NE(RefusalOf("## Results of the model\n\n" + figures), "") << "a document";
  EXPECT_NE(RefusalOf("# Notes\n- `a.log`: " + figures + "- **b**: `c`\n"), "") << "notes";
  EXPECT_NE(RefusalOf("import torch\ndef main():\n  x = 3;\n" + figures), "") << "source code";
  EXPECT_NE(RefusalOf("model:\n  timeout: 2.5 s\n  retry_interval: 0.5 s\n"), "") << "a configuration";
  EXPECT_NE(RefusalOf("The model took 2.5 s.\nNo more is said of its tokens, nor of GPUs.\n"), "")
      << "one time";
}

TEST(PrintedFigures, BatchesThatAreSkippedForWantOfMemory) {
  std::string text = "Batch Size: 16\n";
  for (int step = 0; step < 4; ++step)
    text += fmt::format(
        "Epoch 34 Train:   7%|#  | {}/359 [00:1{}<03:23,  1.63it/s]\nOOM at step {}. Skipping batch.\n", step,
        step, step);
  EXPECT_EQ(ReadProgram(text).skipped_batches, 4);
  EXPECT_NE(RefusalOf("OOM policy: skip\nOOM at step 3. Skipping batch.\n"), "") << "of one";
}

TEST(PrintedFigures, PartsOfOneTotalAreNotThoseOfOthers) {
  const std::string report =
      "batch_load : 1.98ms CPU / 1.82ms CUDA\nto_device : 0.40ms CPU / 0.40ms CUDA\n-----\n"
      "TOTAL : 33.3ms CPU / 27.7ms CUDA\nBackward pass of the model\nforward : 323.1ms CPU / 323.0ms CUDA\n"
      "backward : 256.7ms CPU / 256.4ms CUDA\nFull iteration of the model\n"
      "total_iteration : 693.7ms CPU / 693.5ms CUDA\nforward : 338.6ms CPU / 338.5ms CUDA\n"
      "backward : 305.8ms CPU / 305.6ms CUDA\noptimizer_step : 27.9ms CPU / 27.7ms CUDA\n"
      "loss : 18.2ms CPU / 18.0ms CUDA\n-----\nTOTAL : 13865.6ms CPU / 13853.7ms CUDA\n";
  for (const char* end : {"", "the end of the report\n"}) {
    const ProgramOutput output = ReadProgram("Using device: cuda\n" + report + end);
    ASSERT_EQ(output.figures.size(), 5u);
    EXPECT_EQ(output.figures[0].name, "total_iteration");
    EXPECT_EQ(output.figures[1].name, "forward");
    EXPECT_DOUBLE_EQ(output.figures[1].sum, 338.6e6);
    EXPECT_EQ(output.figures[1].count, 1);
  }
}

}  // namespace
}  // namespace dladvisor
