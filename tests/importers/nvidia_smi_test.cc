// SPDX-License-Identifier: Apache-2.0
// Logs of nvidia-smi as tables and as columns of dmon, written by hand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ErrorOnReading;
using test::Is;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Metric = TelemetryMetric;

constexpr Ns kMs = 1'000'000, kSecond = 1'000 * kMs;

constexpr char kTable[] =
    "+---------------------------------------------------------------------------------------+\n"
    "| NVIDIA-SMI 535.54.03              Driver Version: 535.54.03    CUDA Version: 12.2     |\n"
    "|-----------------------------------------+----------------------+----------------------+\n"
    "| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |\n"
    "|=========================================+======================+======================|\n"
    "|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:01:00.0 Off |                    0 |\n"
    "| N/A   35C    P0              52W / 400W |   1000MiB / 40960MiB |     12%      Default |\n"
    "|                                         |                      |             Disabled |\n"
    "+-----------------------------------------+----------------------+----------------------+\n"
    "|   1  Tesla K80           Off  | 0000:05:00.0     Off |                    0 |\n"
    "| N/A   ERR!    P8    N/A /  N/A |      0MiB / 11441MiB |     N/A      Default |\n"
    "| Processes:                                                                            |\n"
    "|    0   N/A  N/A      1234      C   python                                     996MiB |\n";

TEST(SmiTable, LooksOfATerminalAreNoLog) {
  std::string calls;
  for (int i = 0; i < 40; ++i)
    calls +=
        "julia> @time forward(x)\n  0.200000 seconds (8.72 k CPU allocations: 357.484 KiB) (84 GPU "
        "allocations: 9.032 GiB, 90.00% gc time of which 99.70% spent allocating)\n";
  const Trace trace = test::ReadLog(calls + kTable);
  EXPECT_EQ(trace.format, "program log");
  EXPECT_EQ(trace.program_output.collection.lines, 40);
  EXPECT_NEAR(trace.program_output.collection.part, 7.2e9, 1e3);
  EXPECT_TRUE(trace.program_output.collects_for_gpu);
  EXPECT_EQ(test::ReadLog(std::string(kTable) + kTable).format, "nvidia-smi");
}

TEST(SmiTable, RepeatedAmongOtherLines) {
  const Trace trace =
      test::ReadLog("Every 2.0s: nvidia-smi      node7: Tue Jan  6 16:47:43 2026\n\n" + std::string(kTable) +
                    "step 1 loss 3.2\nTue Jan  6 16:47:45 2026       \n" + kTable);
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.12), Is(0, 2 * kSecond, 0.12)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower)[0], Is(0, 0, 52));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPowerLimit)[0], Is(0, 0, 400));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kTemperature),
              ElementsAre(Is(0, 0, 35), Is(0, 2 * kSecond, 35)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryTotal)[1], Is(1, 0, 11441 * test::kMiB));
  EXPECT_EQ(trace.devices.at(0).name, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(trace.facts.at("driver_version"), "535.54.03");
  EXPECT_EQ(trace.facts.at("cuda_version"), "12.2");
  EXPECT_THAT(trace.health.rows_skipped, IsEmpty());
}

TEST(SmiTable, PersistenceMayEndAtTheBar) {
  const Trace trace = test::ReadLog(
      "Sun Jun 11 16:43:02 2023       \n"
      "| NVIDIA-SMI 530.41.03              Driver Version: 530.41.03    CUDA Version: 12.1     |\n"
      "| GPU  Name                  Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
      "|   0  NVIDIA GeForce RTX 3060 L...    Off| 00000000:01:00.0 Off |                  N/A |\n"
      "| N/A   57C    P0               N/A /  N/A|      6MiB /  6144MiB |     12%      Default |\n");
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].name, "NVIDIA GeForce RTX 3060 L...");
  EXPECT_THAT(test::SamplesOf(trace, TelemetryMetric::kGpuUtilization), ElementsAre(Is(0, 0, 0.12)));
}

TEST(SmiTable, CutAfterTheFirstLineOfAGpu) {
  const std::string whole(kTable);
  const Trace trace = test::ReadLog(whole + whole.substr(0, whole.find("| N/A   35C")));
  EXPECT_EQ(test::SamplesOf(trace, Metric::kGpuUtilization).size(), 1u);
  EXPECT_THAT(ErrorOnReading(whole.substr(0, whole.find("| N/A   35C"))).reason(),
              HasSubstr("without a sample"));
}

TEST(SmiDmon, WithDateAndTime) {
  const Trace trace = test::ReadLog(
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk  pviol  tviol     fb\n"
      "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz      %   bool     MB\n"
      " 20240102   03:04:05      0     43     35      -     90     40   5001   1200     25      1   1024\n"
      " 20240102   03:04:06      0     44     35      -     91     40   5001   1200      0      0   1024\n"
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk  pviol  tviol     fb\n"
      "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz      %   bool     MB\n"
      " 20240102   03:04:07      0     44\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.9), Is(0, kSecond, 0.91)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryTemperature), IsEmpty());
  EXPECT_THAT(test::SamplesOf(trace, Metric::kThrottledByPower)[0], Is(0, 0, 0.25));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kThrottledByHeat)[0], Is(0, 0, 1));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed)[0], Is(0, 0, 1024 * test::kMiB));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kSmClock)[0], Is(0, 0, 1.2e9));
  EXPECT_EQ(trace.health.rows_skipped.at("rows"), 1);
}

TEST(SmiDmon, PastMidnightAndWithoutTimes) {
  const Trace night = test::ReadLog(
      "#Time        gpu   pwr\n#HH:MM:SS    Idx     W\n 23:59:59      0    43\n 00:00:01      0    44\n");
  EXPECT_THAT(test::SamplesOf(night, Metric::kPower), ElementsAre(Is(0, 0, 43), Is(0, 2 * kSecond, 44)));
  const Trace csv = test::ReadLog("#gpu, pwr, sm\n#Idx, W, %\n0, 43, 5\n1, 50, 10\n");
  EXPECT_THAT(test::SamplesOf(csv, Metric::kPower), ElementsAre(Is(0, -1, 43), Is(1, -1, 50)));
  EXPECT_THAT(ErrorOnReading("# gpu    pwr\n# Idx      W\n").reason(),
              HasSubstr("a log of nvidia-smi dmon without a sample"));
}

TEST(SmiDmon, BehindThePromptThatStartedIt) {
  const Trace trace = test::ReadLog(
      "(hpc) [me@node ~]$ timeout 3m nvidia-smi dmon\n# gpu   pwr    sm\n# Idx     W     %\n    0   281    "
      "97\n"
      "    0   259    98\n(hpc) [me@node ~]$ \n");
  EXPECT_EQ(test::SamplesOf(trace, Metric::kPower).size(), 2u);
}

TEST(SmiDmon, OneLookBeforeATrainingIsNotTheLog) {
  std::string log = "+ nvidia-smi dmon -c 1\n# gpu   pwr    sm\n# Idx     W     %\n    0    31     0\n";
  for (int i = 0; i < 30; ++i) log += fmt::format("step {} loss 2.10 0.25 s/step\n", i);
  EXPECT_THAT(test::SamplesOf(test::ReadLog(log), Metric::kPower), IsEmpty());
}

TEST(SmiLogs, EveryDamagedByteIsAnswered) {
  std::mt19937 random(7);
  for (const std::string& whole :
       {std::string("timestamp, index, utilization.gpu [%], power.draw [W]\n"
                    "2024/01/02 00:00:02.000, 0, 30 %, 99.5 W\n2024/01/02 00:00:03.000, 0, 31 %, 99.5 W\n"),
        "Tue Jan  6 16:47:45 2026\n" + std::string(kTable),
        std::string("#Date Time gpu pwr sm\n#YYYYMMDD HH:MM:SS Idx W %\n 20240102 03:04:05 0 43 90\n")})
    for (int i = 0; i < 200; ++i) {
      std::string damaged = whole;
      for (int j = 0; j < 4; ++j) damaged[random() % damaged.size()] = static_cast<char>(random());
      try {
        test::ReadLog(damaged);
      } catch (const Error&) {
        // Refused or read: either is an answer.
      }
    }
}

}  // namespace
}  // namespace dladvisor
