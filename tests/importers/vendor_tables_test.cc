// SPDX-License-Identifier: Apache-2.0
// Logs of the tools of other vendors, and of NVIDIA's for Jetson.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::Is;
using testing::ElementsAre;
using Metric = TelemetryMetric;

TEST(Tegrastats, SamplesWithTheirTimes) {
  const Trace trace = test::ReadLog(
      "10-01-2025 20:06:05 RAM 5447/6834MB (lfb 2x128kB) SWAP 542/3417MB (cached 2MB) CPU [100%@1190,off] "
      "EMC_FREQ 0% "
      "GR3D_FREQ 0% CPU@40.5C GPU@38C VDD_IN 5701mW/5559mW VDD_CPU_GPU_CV 1600mW/1500mW\n"
      "10-01-2025 20:06:06 RAM 5453/6834MB (lfb 54x128kB) SWAP 542/3417MB (cached 2MB) CPU [99%@1190,off] "
      "EMC_FREQ 0% "
      "GR3D_FREQ 99%@[905] CPU@40.5C GPU@41C VDD_IN 9315mW/5600mW VDD_CPU_GPU_CV 1600mW/1500mW\n");
  EXPECT_EQ(trace.facts.at("profiler"), "tegrastats");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0), Is(0, 1'000'000'000, 0.99)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kSmClock), ElementsAre(Is(0, 1'000'000'000, 905e6)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kTemperature),
              ElementsAre(Is(0, 0, 38), Is(0, 1'000'000'000, 41)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower),
              ElementsAre(Is(0, 0, 5.701), Is(0, 1'000'000'000, 9.315)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed),
              ElementsAre(Is(0, 0, 5447 * test::kMiB), Is(0, 1'000'000'000, 5453 * test::kMiB)));
}

TEST(Tegrastats, OldLinesHaveNoTime) {
  const Trace trace = test::ReadLog(
      "RAM 1000/3956MB (lfb 6x1MB) IRAM 0/252kB CPU [1%@102] EMC_FREQ 0% GR3D_FREQ 12% PLL@25C GPU@24C "
      "POM_5V_IN "
      "2500/2600\nRAM 1000/3956MB (lfb 6x1MB) CPU [1%@102] GR3D_FREQ 99% GPU@24C POM_5V_IN 2500/2600\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower), ElementsAre(Is(0, -1, 2.5), Is(0, -1, 2.5)));
}

TEST(Tegrastats, LinesFromBeforeTheGpuIsUsedHaveNoneOfIt) {
  const std::string idle = "RAM 1000/3956MB (lfb 6x1MB) CPU [1%@102] GPU@24C VDD_IN 2500/2500\n";
  const Trace trace =
      test::ReadLog(idle + idle + "RAM 1000/3956MB (lfb 6x1MB) CPU [1%@102] GR3D_FREQ 12%@1134 GPU@24C\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization), ElementsAre(Is(0, -1, 0.12)));
  EXPECT_EQ(trace.facts.at("profiler"), "tegrastats");
}

TEST(VendorTables, RocmSmi) {
  const std::string table =
      "========================= ROCm System Management Interface =========================\n"
      "GPU  Temp (DieEdge)  AvgPwr  SCLK     MCLK     Fan  Perf  PwrCap  VRAM%  GPU%  \n"
      "0    43.0c           39.0W   1700Mhz  1600Mhz  0%   auto  560.0W   12%   97%  \n"
      "1    45.0c           N/A     None     1600Mhz  0%   auto  560.0W    0%   3%   \n";
  const Trace trace = test::ReadLog(table + table);
  EXPECT_EQ(trace.facts.at("profiler"), "rocm-smi");
  EXPECT_EQ(test::SamplesOf(trace, Metric::kGpuUtilization).size(), 4u);
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPowerLimit).front(), Is(0, -1, 560));
  const Trace newer = test::ReadLog(
      "Device  Node  IDs              Temp        Power     Partitions          SCLK    MCLK     Fan  Perf  "
      "PwrCap  VRAM%  GPU%  \n"
      "              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)                           \n"
      "0       2     0x74a1,   28851  41.0°C      136.0W    NPS1, SPX, 0        132Mhz  900Mhz   0%   auto  "
      "750.0W  0%     95%    \n");
  EXPECT_THAT(test::SamplesOf(newer, Metric::kGpuUtilization), ElementsAre(Is(0, -1, 0.95)));
  EXPECT_THAT(test::SamplesOf(newer, Metric::kPower), ElementsAre(Is(0, -1, 136)));
}

TEST(VendorTables, AmdSmiMonitor) {
  const Trace trace = test::ReadLog(
      " TIMESTAMP  GPU  POWER  GPU_T   GFX_CLK   GFX%  VRAM_USED  VRAM_TOTAL\n"
      "1728408462    0  151 W  39 °C   132 MHz   97 %    1024 MB  196592 MB\n"
      "1728408463    0  161 W  39 °C   132 MHz   98 %    2048 MB  196592 MB\n");
  EXPECT_EQ(trace.facts.at("profiler"), "amd-smi");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.97), Is(0, 1'000'000'000, 0.98)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed),
              ElementsAre(Is(0, 0, 1024 * test::kMiB), Is(0, 1'000'000'000, 2048 * test::kMiB)));
}

TEST(VendorTables, NpuSmi) {
  const Trace trace = test::ReadLog(
      "| npu-smi 23.0.2                 Version: 23.0.2                                             |\n"
      "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n"
      "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n"
      "+===========================+===============+====================================================+\n"
      "| 0     910B3               | OK            | 93.6        42                0    / 0             |\n"
      "| 0                         | 0000:C1:00.0  | 97          0    / 0          3318 / 65536         |\n");
  EXPECT_EQ(trace.facts.at("profiler"), "npu-smi");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization), ElementsAre(Is(0, -1, 0.97)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryTotal), ElementsAre(Is(0, -1, 65536 * test::kMiB)));
  EXPECT_EQ(trace.devices[0].name, "Ascend 910B3");
}

TEST(Gpustat, SamplesWithTheirTimes) {
  const Trace trace = test::ReadLog(
      "gpu-node01                 Thu Nov 26 10:00:00 2026  535.104.05\n"
      "[0] NVIDIA A100-SXM4-80GB | 35°C,   0 % |     3 / 81920 MB |\n"
      "[1] NVIDIA A100-SXM4-80GB | 61'C,  98 % | 61440 / 81920 MB | alice(61000M)\n"
      "gpu-node01                 Thu Nov 26 10:00:05 2026  535.104.05\n"
      "[0] NVIDIA A100-SXM4-80GB | 35°C,  30 %,   7 % |  90 / 400 W |     3 / 81920 MB |\n"
      "[1] NVIDIA A100-SXM4-80GB | 61°C,  97 % | 61440 / 81920 MB | alice(61000M)\n");
  EXPECT_EQ(trace.facts.at("profiler"), "gpustat");
  ASSERT_EQ(trace.devices.size(), 2U);
  EXPECT_EQ(trace.devices[1].name, "NVIDIA A100-SXM4-80GB");
  EXPECT_THAT(
      test::SamplesOf(trace, Metric::kGpuUtilization),
      ElementsAre(Is(0, 0, 0), Is(1, 0, 0.98), Is(0, 5'000'000'000, 0.07), Is(1, 5'000'000'000, 0.97)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower), ElementsAre(Is(0, 5'000'000'000, 90)));
}

TEST(Monitors, OfUsersPrintALineForEachMetric) {
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += fmt::format(
        "\n=== 2024-10-31 18:47:{:02} ===\nGPU Load: {}.0%\nGPU Memory: 512.0MB / 6144.0MB (8.3%)\n"
        "GPU Temperature: 48.0°C\nCPU Usage: 0.0%\nRAM Usage: 539.1MB\n",
        i, i == 3 ? 75 : 0);
  const Trace trace = test::ReadLog(text);
  const auto loads = test::SamplesOf(trace, Metric::kGpuUtilization);
  ASSERT_EQ(loads.size(), 30U);
  EXPECT_THAT(loads[3], Is(0, 3'000'000'000, 0.75));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed)[0], Is(0, 0, 512 * test::kMiB));
  EXPECT_EQ(trace.devices[0].memory_bytes, int64_t{6144} * 1024 * 1024);
  EXPECT_EQ(
      test::ReadLog(text.substr(0, 0) + "step 1 loss 2.5, 250 ms/step\nstep 2 loss 2.5, 250 ms/step\n" + text)
          .format,
      "training log");
}

}  // namespace
}  // namespace dladvisor
