// SPDX-License-Identifier: Apache-2.0
// Results that a benchmark of one's own prints as pairs of names and values.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ReadProgram;
using testing::ElementsAre;

TEST(ResultLines, ALineForEachResult) {
  const ProgramOutput output = ReadProgram(
      "Device: NVIDIA A100-SXM4-80GB\n"
      "backend=eager batch=1 latency_ms=12.4 throughput=80.6 tok/s\n"
      "backend=eager batch=8 latency_ms=30.1 throughput=265.7 tok/s\n"
      "backend=compile batch=1 latency_ms=6.9 throughput=144.5 tok/s\n"
      "backend=compile batch=8 latency_ms=21.3 throughput=375.1 tok/s\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "latency_ms");
  EXPECT_THAT(output.results->settings, ElementsAre("backend", "batch"));
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kChoice, SettingKind::kLoad));
  ASSERT_EQ(output.results->rows.size(), 4u);
  EXPECT_THAT(output.results->rows[3].values, ElementsAre("compile", "8"));
  EXPECT_DOUBLE_EQ(output.results->rows[3].pace, 375.1);
}

TEST(ResultLines, ABlockForEachVariantOfWhichTheFirstHasNoSpeedUp) {
  const ProgramOutput output = ReadProgram(
      "--- eager ---\nmean latency: 12.41 ms\np99 latency: 13.9 ms\n"
      "--- torch.compile ---\nmean latency: 7.15 ms\np99 latency: 7.9 ms\nspeedup vs eager: 1.74x\n"
      "--- torch.compile (max-autotune) ---\nmean latency: 6.22 ms\np99 latency: 6.9 ms\n"
      "speedup vs eager: 2.00x\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("variant"));
  ASSERT_EQ(output.results->rows.size(), 3u);
  EXPECT_DOUBLE_EQ(output.results->rows[2].result, 6.22);
  EXPECT_THAT(output.results->rows[2].values, ElementsAre("torch.compile (max-autotune)"));
}

TEST(ResultLines, ABlockForEachSizeBeginsWithIt) {
  std::string text;
  for (const int batch : {1, 8, 32})
    text += "Batch size: " + std::to_string(batch) + "\n  Latency: " + std::to_string(5 + batch) +
            ".5 ms\n  Throughput: " + std::to_string(100 + 10 * batch) + ".5 images/s\n\n";
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("Batch size"));
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kLoad));
  ASSERT_EQ(output.results->rows.size(), 3u);
  EXPECT_DOUBLE_EQ(output.results->rows[2].pace, 420.5);
}

TEST(ResultLines, NumbersInHeadingsAreSettings) {
  const ProgramOutput output = ReadProgram(
      "Testing batch size 1...\n  Avg time: 8.2 ms, throughput: 121.9 img/s\n"
      "Testing batch size 4...\n  Avg time: 12.0 ms, throughput: 333.3 img/s\n"
      "Testing batch size 16...\n  Avg time: 33.0 ms, throughput: 484.8 img/s\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("batch size"));
  EXPECT_THAT(output.results->rows[2].values, ElementsAre("16"));
}

TEST(ResultLines, EachByItsName) {
  const ProgramOutput output = ReadProgram(
      "Running on NVIDIA GeForce RTX 3080\nNaive kernel: 14.21 ms\nShared memory kernel: 4.87 ms (2.92x)\n"
      "Vectorized kernel: 2.11 ms (6.73x)\ncuBLAS: 1.02 ms (13.9x)\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("variant"));
  ASSERT_EQ(output.results->rows.size(), 4u);
  EXPECT_THAT(output.results->rows[3].values, ElementsAre("cuBLAS"));
}

TEST(ResultLines, NumbersOfDevices) {
  const ProgramOutput output =
      ReadProgram("1 GPU: 412.3 images/sec\n2 GPUs: 801.9 images/sec\n4 GPUs: 1502.0 images/sec\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kDevices));
  EXPECT_DOUBLE_EQ(output.results->rows[2].pace, 1502);
}

TEST(ResultLines, TwoTimesAreOfTheSameWorkWhereASpeedUpSaysSo) {
  const std::string times = "CPU time: 1520.331 ms\nGPU time: 48.112 ms\n";
  EXPECT_FALSE(ReadProgram(times).results);
  EXPECT_FALSE(ReadProgram(times + "Speedup: 2.0x\n").results);
  const ProgramOutput output = ReadProgram(times + "Speedup: 31.6x\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->rows.size(), 2u);
}

TEST(ResultLines, StagesRoundsDevicesAndPartsAreNoResults) {
  for (const char* text : {
           "=== Loading model ===\nTime: 3.21 s\n=== Warmup ===\nTime: 1.02 s\n"
           "=== GPU inference ===\nTime: 10.5 s\n",
           "CPU preprocessing: 12.1 ms\nGPU inference: 33.2 ms\nCPU postprocessing: 4.1 ms\nTotal: 49.4 ms\n",
           "Iteration 1: 12.1 ms\nIteration 2: 12.3 ms\nIteration 3: 12.0 ms\n",
           "H2D copy: 12.1 ms\nKernel: 3.4 ms\nD2H copy: 10.2 ms\nTotal GPU time: 25.9 ms\n",
           "forward: 12.1 ms\nbackward: 24.3 ms\noptimizer: 3.1 ms\nfused loss: 1.1 ms\n",
           "GPU 0: 412.3 images/sec\nGPU 1: 401.9 images/sec\nGPU 2: 405.0 images/sec\n",
           "frame=1 preprocess_ms=3.1 inference_ms=12.0 batch=8\n"
           "frame=2 preprocess_ms=3.2 inference_ms=12.1 batch=8\n"
           "frame=3 preprocess_ms=3.0 inference_ms=12.5 batch=16\n",
           "Batch: 8\nWorkers: 4\nStartup time: 12.2 s\nHealth check latency: 3.4 ms\n",
       })
    EXPECT_FALSE(ReadProgram(text).results) << text;
}

TEST(ResultLines, BlocksOfManyNamesAreNoResults) {
  const auto blocks = [](int lines) {
    std::string text;
    for (const char* heading : {"=== eager ===\n", "=== compiled ===\n"}) {
      text += heading;
      for (int i = 0; i < lines; ++i)
        text += fmt::format("mean_a{}_ms={}.5 mean_b{}_ms={}.2\n", i, i + 1, i, i + 2);
    }
    return text;
  };
  EXPECT_TRUE(ReadProgram(blocks(2)).results);
  EXPECT_FALSE(ReadProgram(blocks(100)).results);
}

TEST(ResultLines, RequestsAtOnceAreALoadWhereSomeLinesHaveNone) {
  const ProgramOutput output = ReadProgram(
      "decode    c=1  ttft=0.3s  total=18.6 tok/s\ndecode    c=2  ttft=0.5s  total=37.2 tok/s\n"
      "decode    c=4  ttft=0.6s  total=67.4 tok/s\nprefill   c=1  ttft=15.7s  total=3.4 tok/s\n"
      "prefill   c=2  ttft=24.9s  total=3.7 tok/s\nprefill   c=4  ttft=41.3s  total=3.8 tok/s\n"
      "cold      ttft=4.3s  total=9.9 tok/s\n");
  ASSERT_TRUE(output.results);
  const auto c = std::ranges::find(output.results->settings, "c");
  ASSERT_NE(c, output.results->settings.end());
  EXPECT_EQ(output.results->kinds[static_cast<size_t>(c - output.results->settings.begin())],
            SettingKind::kLoad);
  EXPECT_DOUBLE_EQ(output.results->rows[2].pace, 67.4);
}

}  // namespace
}  // namespace dladvisor
