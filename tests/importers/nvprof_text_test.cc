// SPDX-License-Identifier: Apache-2.0
// What nvprof prints: metrics of kernels as text and as CSV, and rows of single operations and calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "src/trace/trace.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using testing::DoubleNear;
using testing::Eq;
using testing::Optional;
using testing::SizeIs;

auto ShareOf(double value) { return Optional(DoubleNear(value, 1e-6)); }

constexpr const char* kBeginOfNvprof =
    "==31== NVPROF is profiling process 31, command: ./flow 64\n"
    "cells: 64\n"
    "==31== Some kernel(s) will be replayed on device 0 in order to collect all events/metrics.\n"
    "==31== Profiling application: ./flow 64\n"
    "==31== Profiling result:\n";

TEST(NvprofText, MetricsOfKernels) {
  const Trace t = test::ReadLog(
      std::string(kBeginOfNvprof) +
      "==31== Event result:\n"
      "Invocations                                Event Name         Min         Max         Avg       "
      "Total\n"
      "Device \"Tesla P4 (0)\"\n"
      "    Kernel: flux(float*, int)\n"
      "          9                            warps_launched         512         512         512        "
      "4608\n"
      "==31== Metric result:\n"
      "Invocations                               Metric Name                        Metric Description       "
      "  "
      "Min         Max         Avg\n"
      "Device \"Tesla P4 (0)\"\n"
      "\tKernel: flux(float*, int)\n"
      "          9                        achieved_occupancy                        Achieved Occupancy    "
      "0.400000    0.600000    0.500000\n"
      "          9                            gld_efficiency             Global Memory Load Efficiency      "
      "20.00%      30.00%      25.00%\n"
      "          9                            gst_efficiency            Global Memory Store Efficiency     "
      "100.00%     100.00%     100.00%\n"
      "          9                            gld_throughput                    Global Load Throughput  "
      "20.000GB/s  40.000GB/s  30.000GB/s\n"
      "          9                            gst_throughput                   Global Store Throughput  "
      "9000.0MB/s  11000.MB/s  10000.MB/s\n"
      "          9                          dram_utilization                 Device Memory Utilization     "
      "Low "
      "(3)     Mid (5)     Mid (4)\n"
      "          9           single_precision_fu_utilization   Single-Precision Function Unit Utiliz    Idle "
      "(0)     Low (2)     Low (2)\n"
      "          9                    issue_slot_utilization                    Issue Slot Utilization      "
      "10.00%      14.00%      12.00%\n"
      "          9                   stall_memory_dependency        Issue Stall Reasons (Data Request)      "
      "60.00%      80.00%      70.00%\n"
      "          9                             sm_efficiency                   Multiprocessor Activity      "
      "80.00%      99.00%      90.00%\n"
      "          9                               inst_issued                       Instructions Issued       "
      "10000       10000       10000\n"
      "    Kernel: void edge<int=4>(float*)\n"
      "          1                            gld_efficiency             Global Memory Load Efficiency       "
      "0.00%       0.00%       0.00%\n");
  EXPECT_EQ(t.format, "summary");
  ASSERT_THAT(t.summary_tables, SizeIs(1));
  const SummaryTable& table = t.summary_tables[0];
  EXPECT_EQ(table.tool, "nvprof");
  EXPECT_EQ(table.title, "Tesla P4 (0)");
  EXPECT_TRUE(table.is_one_by_one);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_EQ(table.rows[0].name, "flux(float*, int)");
  EXPECT_EQ(table.rows[0].calls, 9);
  EXPECT_EQ(table.rows[0].total_ns, 0);
  EXPECT_EQ(table.rows[1].name, "void edge<int=4>(float*)");
  ASSERT_THAT(table.kernels, SizeIs(2));
  const KernelMeasurement& flux = table.kernels[0];
  EXPECT_THAT(flux.achieved_occupancy, ShareOf(0.5));
  EXPECT_THAT(flux.load_efficiency, ShareOf(0.25));
  EXPECT_THAT(flux.store_efficiency, ShareOf(1));
  EXPECT_THAT(flux.access_efficiency, ShareOf((0.25 * 30 + 10) / 40)) << "by what each moves";
  EXPECT_THAT(flux.dram_share, ShareOf(0.4));
  EXPECT_THAT(flux.compute_share, ShareOf(0.2));
  EXPECT_EQ(flux.pipe, "FP32");
  EXPECT_EQ(flux.waits_for, "for data from memory");
  EXPECT_THAT(flux.waits_share, ShareOf(0.7));
  EXPECT_THAT(flux.multiprocessor_share, ShareOf(0.9));
  EXPECT_THAT(table.kernels[1].load_efficiency, Eq(std::nullopt)) << "it loads nothing";
}

TEST(NvprofText, MetricsAsCsvOfSeveralGpus) {
  const Trace t = test::ReadLog(
      std::string(kBeginOfNvprof) +
      "==31== Metric result:\n"
      "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n"
      "\"Tesla K20c (0)\",\"flux(float*, int)\",3,\"sm_efficiency\",\"Multiprocessor "
      "Activity\",10.000000%,30.000000%,20.000000%\n"
      "\"Tesla K20c (1)\",\"flux(float*, int)\",4,\"sm_efficiency\",\"Multiprocessor "
      "Activity\",10.000000%,30.000000%,40.000000%\n"
      "\"Tesla K20c (0)\",\"flux(float*, int)\",3,\"dram_utilization\",\"Device Memory Utilization\",\"Low "
      "(1)\",\"High (8)\",\"Mid (6)\"\n");
  ASSERT_THAT(t.summary_tables, SizeIs(2));
  for (const SummaryTable& table : t.summary_tables) {
    const bool first = table.title == "Tesla K20c (0)";
    ASSERT_THAT(table.rows, SizeIs(1));
    EXPECT_EQ(table.rows[0].calls, first ? 3 : 4);
    EXPECT_THAT(table.kernels.at(0).multiprocessor_share, ShareOf(first ? 0.2 : 0.4));
    EXPECT_THAT(table.kernels.at(0).dram_share, testing::Conditional(first, ShareOf(0.6), Eq(std::nullopt)));
  }
}

// The columns end where their names end.
std::string PrintedRow(const char* start, const char* duration, const char* grid, const char* block,
                       const char* size, const char* device, const char* name) {
  return fmt::format("{:>8}  {:>8}  {:>19}  {:>14}  {:>8}  {:>15}  {}\n", start, duration, grid, block, size,
                     device, name);
}

TEST(NvprofText, RowsOfOperationsAndCallsAreTotals) {
  const Trace t = test::ReadLog(
      kBeginOfNvprof + PrintedRow("Start", "Duration", "Grid Size", "Block Size", "Size", "Device", "Name") +
      PrintedRow("12.345s", "1.5000ms", "-", "-", "-", "-", "cudaMemcpy") +
      PrintedRow("12.345s", "1.2000ms", "-", "-", "2.0000MB", "Tesla P4 (0)", "[CUDA memcpy HtoD]") +
      PrintedRow("12.347s", "6.0000us", "-", "-", "-", "-", "cudaLaunchKernel (flux(float*, int) [31])") +
      PrintedRow("12.347s", "40.000us", "(16 16 1)", "(8 8 1)", "-", "Tesla P4 (0)",
                 "flux(float*, int) [31]") +
      PrintedRow("12.347s", "60.000us", "(16 16 1)", "(8 8 1)", "-", "Tesla P4 (0)",
                 "flux(float*, int) [34]") +
      "\nRegs: Number of registers used per CUDA thread.\n");
  EXPECT_EQ(t.format, "summary");
  EXPECT_THAT(t.kernels.start, SizeIs(0)) << "starts are told to a millisecond";
  ASSERT_THAT(t.summary_tables, SizeIs(1));
  const SummaryTable& table = t.summary_tables[0];
  ASSERT_THAT(table.rows, SizeIs(4));
  EXPECT_EQ(table.rows[0].kind, SummaryRowKind::kApi);
  EXPECT_EQ(table.rows[1].kind, SummaryRowKind::kCopy);
  EXPECT_THAT(table.rows[1].bytes, ShareOf(2 << 20));
  EXPECT_EQ(table.rows[2].name, "cudaLaunchKernel");
  EXPECT_EQ(table.rows[3].name, "flux(float*, int)");
  EXPECT_EQ(table.rows[3].calls, 2);
  EXPECT_DOUBLE_EQ(table.rows[3].total_ns, 100'000);
  EXPECT_THAT(table.rows[3].max_ns, ShareOf(60'000));
}

TEST(NvprofText, CallsAlone) {
  const Trace t = test::ReadLog(std::string(kBeginOfNvprof) +
                                "   Start  Duration  Name\n"
                                "110.22ms  201.33ms  cudaMalloc\n"
                                "312.40ms  10.620ms  cudaMemcpy\n"
                                "323.05ms  10.380ms  cudaMemcpy\n");
  ASSERT_THAT(t.summary_tables, SizeIs(1));
  ASSERT_THAT(t.summary_tables[0].rows, SizeIs(2));
  EXPECT_FALSE(t.summary_tables[0].has_device);
  EXPECT_DOUBLE_EQ(t.summary_tables[0].rows[1].total_ns, 21e6);
}

TEST(NvprofText, CallsBesideOperationsAsCsvAreNoKernels) {
  const Trace t = test::ReadLog(
      "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block "
      "Z\",\"Registers "
      "Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"Device\",\"Context\","
      "\"Stream\",\"Name\"\n"
      "ms,us,,,,,,,,KB,B,MB,GB/s,,,,\n"
      "1.5,9.25,,,,,,,,,,,,,,,\"cudaLaunchKernel (flux(float*, int) [112])\"\n"
      "1.6,3.5,10,1,1,64,1,1,32,2,0,,,\"TITAN Xp (0)\",\"1\",\"7\",\"flux(float*, int) [112]\"\n");
  ASSERT_THAT(t.kernels.start, SizeIs(1));
  ASSERT_THAT(t.api_calls.start, SizeIs(1));
  EXPECT_EQ(t.names.View(t.api_calls.name[0]), "cudaLaunchKernel");
  EXPECT_EQ(t.api_calls.correlation[0], 112);
  EXPECT_EQ(t.kernels.correlation[0], 112);
}

TEST(NvprofText, PausesBetweenOperationsAndMemoryOfCopies) {
  const auto row = [](const char* start, const char* duration, const char* from, const char* to,
                      const char* grid, const char* name) {
    return fmt::format("{:>8}  {:>8}  {:>19}  {:>11}  {:>11}  {:>15}  {}\n", start, duration, grid, from, to,
                       std::string_view(start) == "Start" ? "Device" : "Tesla P4 (0)", name);
  };
  const std::string text = kBeginOfNvprof +
                           row("Start", "Duration", "SrcMemType", "DstMemType", "Grid Size", "Name") +
                           row("0ns", "100.00us", "Pinned", "Device", "-", "[CUDA memcpy HtoD]") +
                           row("120.00us", "1.0000ms", "-", "-", "(4 1 1)", "flux(float*) [31]") +
                           row("21.120ms", "100.00us", "Pinned", "Device", "-", "[CUDA memcpy HtoD]") +
                           row("21.230ms", "1.0000ms", "-", "-", "(4 1 1)", "flux(float*) [34]") +
                           row("42.230ms", "1.0000ms", "-", "-", "(4 1 1)", "flux(float*) [37]");
  const Trace t = test::ReadLog(text);
  ASSERT_THAT(t.summary_tables, SizeIs(1));
  EXPECT_EQ(t.summary_tables[0].rows[0].name, "[CUDA memcpy HtoD] (Pinned -> Device)");
  EXPECT_NEAR(t.summary_tables[0].span_ns.value_or(0), 43.23e6, 1);
  EXPECT_EQ(t.summary_tables[0].pauses, 2);
  EXPECT_NEAR(t.summary_tables[0].pause_ns, 40e6, 1);
  EXPECT_NEAR(t.summary_tables[0].longest_pause_ns, 20e6, 1);
  const Trace two = test::ReadLog(text + text);
  EXPECT_FALSE(two.summary_tables.at(0).span_ns) << "each process has starts of its own";
}

}  // namespace
}  // namespace dladvisor
