// SPDX-License-Identifier: Apache-2.0
// Lines that tell waiting for data beside a progress bar that tells the steps.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

// Epochs of a bar of 180 steps of 1 s, with what `lines` prints within each.
std::string EpochsWithBar(int epochs, const std::function<std::string(int epoch)>& lines) {
  std::string text;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    text += fmt::format(
                "\rEpoch {0}/20:   0%|          | 0/180 [00:00<?, ?it/s]"
                "\rEpoch {0}/20:  50%|#####     | 90/180 [01:30<01:30,  1.00s/it]\n",
                epoch) +
            lines(epoch) +
            fmt::format("\rEpoch {}/20: 100%|##########| 180/180 [03:00<00:00,  1.00s/it]\n", epoch) +
            fmt::format("End of epoch {} / 20 \t Time Taken: 181 sec\n", epoch);
  }
  return text;
}

// The mean wait by row, in ms.
std::vector<int> WaitsOf(const TrainingLog& log) {
  std::vector<int> waits(log.iterations.size(), -1);
  for (const TrainingTimer& timer : log.timers)
    if (timer.name == "data") waits[timer.row] = static_cast<int>(*timer.ns / 1e6 + 0.5);
  return waits;
}

std::vector<int> WaitsOfText(const std::string& text) { return WaitsOf(test::ReadLog(text).training_log); }

TEST(LoadingLines, OfCycleGanBesideABar) {
  const std::string text = EpochsWithBar(4, [](int epoch) {
    return fmt::format(
        "[Rank 0] (epoch: {0}, iters: 20, time: 1.283, data: {1:.3f}) , D_A: 0.201, G_A: 0.552\n"
        "[Rank 0] (epoch: {0}, iters: 120, time: 1.281, data: {2:.3f}) , D_A: 0.201, G_A: 0.552\n",
        epoch, epoch == 1 ? 0.09 : 0.04, 0.06);
  });
  EXPECT_EQ(WaitsOfText(text), (std::vector<int>{75, 50, 50, 50}));
}

TEST(LoadingLines, InTheWordsOfOthers) {
  for (const char* line : {"iter 90  loss: 0.3  lr: 0.01  time: 0.9912  data_time: 0.2000  mem: 812\n",
                           "| batch_time=0.99 (0.98) data_time=0.200 (0.1) loss=0.41\n",
                           "step 90 loss 0.412 data 0.200s, time 0.991s\n",
                           "Iter: 90, data time: 200.0 ms, iter time: 991.0 ms, loss: 0.3\n"})
    EXPECT_EQ(WaitsOfText(EpochsWithBar(4, [&](int) { return std::string(line); })),
              (std::vector<int>{200, 200, 200, 200}))
        << line;
}

// A step in ten that waits far longer does so for something else, where one in four does for data.
TEST(LoadingLines, SingleStepsThatWaitFarLonger) {
  const auto text = [](int distance) {
    return EpochsWithBar(20, [&](int epoch) {
      return fmt::format("(epoch: {0}, iters: 20, time: 0.9, data: {1:.3f}) G: 0.5\n", epoch,
                         epoch % distance == 0 ? 0.8 : 0.04);
    });
  };
  EXPECT_EQ(WaitsOfText(text(10))[9], -1);
  EXPECT_EQ(WaitsOfText(text(10))[8], 40);
  EXPECT_EQ(WaitsOfText(text(4))[3], 800);
}

// A loss of that name, a time of another span than a step, a single line, and none at all.
TEST(LoadingLines, WhatIsNoWaitForDataIsNone) {
  for (const char* line :
       {"step 90, loss: 0.31, data: 0.05, physics: 0.26, time: 91.2\n",
        "step 90, data: 0.050, physics: 0.26\n", "epoch time: 180.2, data: 12.4\n",
        "iter 100, time: 0.952, data: 0.880, pde: 0.0021, bc: 0.1132\n", "timestamp: 1.2, database: 0.2\n",
        "update: 0.2, time: 0.1\n", "time: 0.50, data: 3.25GB\n"})
    EXPECT_EQ(WaitsOfText(EpochsWithBar(4, [&](int) { return std::string(line); })),
              (std::vector<int>{-1, -1, -1, -1}))
        << line;
  EXPECT_EQ(WaitsOfText(EpochsWithBar(
                4, [](int epoch) { return std::string(epoch == 2 ? "time: 0.99, data: 0.20\n" : ""); })),
            (std::vector<int>{-1, -1, -1, -1}));
}

// Detectron2's own lines tell more than a bar around them, however many there are of the bar.
TEST(LoadingLines, LinesOfAProgramComeBeforeABarBesideThem) {
  const std::string text = EpochsWithBar(12, [](int epoch) {
    return epoch > 6 ? std::string()
                     : fmt::format(
                           "[11/28 09:0{}:00 d2.utils.events]: eta: 1:00:00  iter: {}  total_loss: "
                           "1.2  time: 0.5000  data_time: 0.1000  lr: 0.02  max_mem: 900M\n",
                           epoch, epoch * 20 - 1);
  });
  const TrainingLog log = test::ReadLog(text).training_log;
  EXPECT_EQ(log.program, "Detectron2");
  EXPECT_EQ(WaitsOf(log), (std::vector<int>{100, 100, 100, 100, 100, 100}));
}

}  // namespace
}  // namespace dladvisor
