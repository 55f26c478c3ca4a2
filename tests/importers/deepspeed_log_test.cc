// SPDX-License-Identifier: Apache-2.0
// Logs of DeepSpeed, written by hand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TrainingLog LogOfDeepSpeed(const std::string& text) { return test::ReadLog(text).training_log; }

TEST(DeepSpeedLog, Lines) {
  const TrainingLog log = LogOfDeepSpeed(
      "[2024-01-01 00:00:10,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=4, lr=[0.0001, "
      "0.0001], mom=[(0.9, 0.95)]\n"
      "steps: 10 loss: 9.5000 iter time (s): 1.250 samples/sec: 204.800\n"
      "[2024-01-01 00:00:20,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=20, skipped=5, lr=[0.0002]\n"
      "steps: 20 loss: 8.5000 iter time (s): 1.000 samples/sec: 256.000\n"
      "[2024-01-01 00:00:30,000] [INFO] [timer.py:199:stop] epoch=0/micro_step=30/global_step=30, "
      "RunningAvgSamplesPerSec=250.5, CurrSamplesPerSec=260.25, MemAllocated=1.2GB\n");
  EXPECT_EQ(log.program, "DeepSpeed");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_DOUBLE_EQ(*log.iterations[0].elapsed_ns, 1.25e9);
  EXPECT_EQ(log.iterations[0].skipped, 4);
  EXPECT_EQ(log.iterations[1].skipped, 1);
  EXPECT_EQ(log.iterations[1].covers, 10);
  EXPECT_DOUBLE_EQ(*log.iterations[1].learning_rate, 2e-4);
  EXPECT_DOUBLE_EQ(*log.iterations[2].samples_per_second, 260.25);
}

// Where no line of the log has the time of a step; of iterations before of micro-batches.
TEST(DeepSpeedLog, TimersAlone) {
  const std::string
      micro =
          "time (ms) | forward_microstep: 200.00 | backward_microstep: 300.00 | backward_inner_microstep: "
          "299.00 | "
          "backward_allreduce_microstep: 0.05 | step_microstep: 25.00\n",
      whole =
          "[2023-06-21 07:39:09,443] [INFO] [Rank 0] rank=0 time (ms) | forward: 400.0 | backward: "
          "600.0 | backward_inner: 590.0 | backward_allreduce: 10.0 | step: 50.0\n";
  const TrainingLog alone = test::ReadLog(micro + micro).training_log;
  EXPECT_EQ(alone.program, "DeepSpeed");
  ASSERT_EQ(alone.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(*alone.iterations[1].elapsed_ns, 525e6);
  ASSERT_EQ(alone.timers.size(), 10u);
  EXPECT_EQ(alone.timers[5].row, 1u);
  EXPECT_EQ(alone.timers[5].name, "forward");
  const TrainingLog both = test::ReadLog(micro + micro + whole + micro + micro + whole).training_log;
  ASSERT_EQ(both.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(*both.iterations[0].elapsed_ns, 1050e6);
  const std::string pace =
      "[2023-06-21 07:39:09,442] [INFO] [timer.py:199:stop] epoch=0/micro_step=40/global_step={}, "
      "RunningAvgSamplesPerSec=30.5, CurrSamplesPerSec=32.5, MemAllocated=1.2GB\n";
  const TrainingLog paced =
      test::ReadLog(fmt::format(fmt::runtime(pace), 10) + whole + fmt::format(fmt::runtime(pace), 20) + whole)
          .training_log;
  ASSERT_EQ(paced.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(*paced.iterations[0].elapsed_ns, 1050e6);
  EXPECT_DOUBLE_EQ(*paced.samples_per_second, 32.5);
}

TEST(DeepSpeedLog, WhatIsKeptOnTheHost) {
  const std::string line = "steps: 10 loss: 5.1 iter time (s): 2.0 samples/sec: 8.0\n";
  EXPECT_THAT(
      LogOfDeepSpeed(
          "    \"offload_param\": {\n        \"device\": \"cpu\", \n        \"pin_memory\": true\n    }, \n"
          "    \"offload_optimizer\": {\"device\": \"nvme\"},\n" +
          line)
          .settings,
      UnorderedElementsAre(Pair("offload_param", "cpu"), Pair("offload_optimizer", "nvme")));
  EXPECT_THAT(
      LogOfDeepSpeed(
          "    \"offload_param\": {\n        \"device\": \"none\"\n    },\n    \"device\": \"cpu\"\n" + line)
          .settings,
      IsEmpty());
  EXPECT_THAT(
      LogOfDeepSpeed(
          "[INFO] [engine.py:641:_configure_optimizer] DeepSpeed Basic Optimizer = DeepSpeedCPUAdam\n" + line)
          .settings,
      UnorderedElementsAre(Pair("offload_optimizer", "cpu")));
}

}  // namespace
}  // namespace dladvisor
