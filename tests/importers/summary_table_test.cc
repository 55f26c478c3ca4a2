// SPDX-License-Identifier: Apache-2.0
// Tables of totals by name: of nsys stats, nvprof, key_averages().table() and rocprof, alone and amid
// outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/trace/trace.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::RefusalOf;
using testing::HasSubstr;

std::vector<SummaryTable> TablesOf(const std::string& text) {
  const Trace trace = test::ReadLog(text);
  EXPECT_EQ(trace.format, "summary");
  return trace.summary_tables;
}

constexpr const char* kKernels =
    " Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)  Name\n"
    " --------  ---------------  ---------  --------  --------  --------  --------  -----------  ----\n"
    "     75.0        3,000,000        100  30,000.0  29,000.0    20,000    40,000      1,000.0  void "
    "f<int>(int)\n"
    "     25.0        1,000,000         10  100000.0  100000.0    90,000   110,000      1,000.0  sgemm\n";
constexpr const char* kCalls =
    " Time (%)  Total Time (ns)  Num Calls  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)  Name\n"
    " --------  ---------------  ---------  --------  --------  --------  --------  -----------  ----\n"
    "    100.0          600,000        110   5,454.5   4,000.0     3,000   150,000      1,000.0  "
    "cudaLaunchKernel\n";
constexpr const char* kSizes =
    " Total (MB)  Count  Avg (MB)  Med (MB)  Min (MB)  Max (MB)  StdDev (MB)      Operation\n"
    " ----------  -----  --------  --------  --------  --------  -----------  ------------------\n"
    "      4.194      1     4.194     4.194     4.194     4.194        0.000  [CUDA memcpy HtoD]\n";
constexpr const char* kCopies =
    " Time (%)  Total Time (ns)  Count  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)      Operation\n"
    "    100.0          500,000      1  500000.0  500000.0    500000    500000          0.0  [CUDA memcpy "
    "HtoD]\n";

TEST(SummaryTable, NsysStatsPrintsAmidAProgramsOutput) {
  const auto tables =
      TablesOf(std::string("hello from the program\n[5/8] Executing 'cuda_api_sum' stats report\n\n") +
               kCalls + "\n[6/8] Executing 'cuda_gpu_kern_sum' stats report\n\n" + kKernels + "\n" + kCopies +
               "\n" + kSizes + "Generated:\n    /tmp/report1.nsys-rep\n");
  ASSERT_EQ(tables.size(), 1U) << "the tables of one profile";
  ASSERT_EQ(tables[0].rows.size(), 4U) << "sizes are of the copies";
  EXPECT_EQ(tables[0].tool, "nsys stats");
  EXPECT_EQ(tables[0].rows[0].kind, SummaryRowKind::kApi);
  EXPECT_EQ(tables[0].rows[0].median_ns, 4000);
  EXPECT_EQ(tables[0].rows[1].name, "void f<int>(int)");
  EXPECT_EQ(tables[0].rows[1].kind, SummaryRowKind::kKernel);
  EXPECT_EQ(tables[0].rows[1].calls, 100);
  EXPECT_EQ(tables[0].rows[1].total_ns, 3e6);
  EXPECT_EQ(tables[0].rows[3].kind, SummaryRowKind::kCopy);
  EXPECT_EQ(tables[0].rows[3].total_ns, 5e5);
  EXPECT_NEAR(tables[0].rows[3].bytes.value_or(0), 4.194e6, 1);
}

TEST(SummaryTable, WhatNsysStatsSkippedIsMissing) {
  const auto missing = [](const std::string& skipped) {
    return test::ReadLog("Processing [a.sqlite] with [/opt/nsys/reports/x.py]...\n" + skipped + "\n\n" +
                         "Processing [a.sqlite] with [/opt/nsys/reports/cuda_api_sum.py]...\n\n" + kCalls)
        .health.missing_tables;
  };
  EXPECT_THAT(missing("SKIPPED: /tmp/a.sqlite does not contain CUDA kernel data."),
              testing::ElementsAre("CUDA kernel data"));
  EXPECT_THAT(missing("SKIPPED: a.sqlite does not contain CUDA trace data."),
              testing::ElementsAre("CUDA trace data"));
  for (const char* other : {"SKIPPED: a.sqlite does not contain NV Tools Extension (NVTX) data.",
                            "SKIPPED: a.sqlite does not contain CUDA Unified Memory CPU page faults data.",
                            "The file does not contain CUDA trace data.", "SKIPPED: 3 tests"})
    EXPECT_THAT(missing(other), testing::IsEmpty()) << other;
}

TEST(SummaryTable, ASecondProfileBeginsWithTheTableThatTheFirstHasHad) {
  EXPECT_EQ(TablesOf(std::string(kKernels) + "\nagain\n" + kKernels).size(), 2U);
}

TEST(SummaryTable, NsysStatsWritesCsvAndOldVersionsOtherHeaders) {
  const auto csv = TablesOf(
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "99.0,2000,2,1000.0,1000.0,1000,1000,0.0,\"void f(int, float *)\"\n");
  ASSERT_EQ(csv[0].rows.size(), 1U);
  EXPECT_EQ(csv[0].rows[0].name, "void f(int, float *)");
  const auto old = TablesOf(
      "CUDA API Statistics (nanoseconds)\n\n"
      "Time(%)      Total Time       Calls         Average         Minimum         Maximum  Name\n"
      "-------  --------------  ----------  --------------  --------------  --------------  ----------\n"
      "   99.0            2000           2          1000.0            1000            1000  cudaMalloc\n");
  ASSERT_EQ(old[0].rows.size(), 1U);
  EXPECT_EQ(old[0].rows[0].kind, SummaryRowKind::kApi);
  EXPECT_EQ(old[0].rows[0].total_ns, 2000);
}

// Versions to 2021 head copies as kernels, but for "Operations".
TEST(SummaryTable, CopiesBesideKernelsOfOldVersions) {
  const std::string rule = "-------  ----------  ----------  -------  -------  -------  ----\n";
  const auto tables = TablesOf(
      "CUDA Kernel Statistics (nanoseconds)\n\n"
      "Time(%)  Total Time   Instances  Average  Minimum  Maximum  Name\n" +
      rule + "  100.0     1000000           6   166667     9471   810615  conv\n\n\n" +
      "CUDA Memory Operation Statistics (nanoseconds)\n\n"
      "Time(%)  Total Time  Operations  Average  Minimum  Maximum  Name\n" +
      rule + "   92.9     9700000           6  1620468    12672  5849858  [CUDA memcpy DtoH]\n" +
      "    7.1      700000          14    50000     1152   388329  [CUDA memcpy HtoD]\n");
  ASSERT_EQ(tables.size(), 1U) << "the tables of one profile";
  ASSERT_EQ(tables[0].rows.size(), 3U);
  EXPECT_EQ(tables[0].rows[1].kind, SummaryRowKind::kCopy);
  EXPECT_EQ(tables[0].rows[1].total_ns, 9.7e6);
}

TEST(SummaryTable, NsysStatsWritesOtherFormatsAndDocumentsQuoteThem) {
  const char* names[] = {"Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Name"};
  const char* cells[] = {"90.0", "9000", "9", "1000.0", "void f(int, float *)"};
  for (const std::string separator : {"\t", ";", " | "}) {
    SCOPED_TRACE(separator);
    std::string head, row;
    for (size_t i = 0; i < std::size(names); ++i) {
      head += (i ? separator : "") + names[i];
      row += (i ? separator : "") + cells[i];
    }
    if (separator == " | ") {
      head = "+-----+\n| " + head + " |\n|:---|---:|\n";
      row = "| " + row + " |\n+-----+\n";
    } else {
      head += '\n';
    }
    const auto tables = TablesOf("A line\n" + head + row + "\n");
    ASSERT_EQ(tables.size(), 1U);
    ASSERT_EQ(tables[0].rows.size(), 1U);
    EXPECT_EQ(tables[0].rows[0].name, "void f(int, float *)");
    EXPECT_EQ(tables[0].rows[0].total_ns, 9000);
  }
  const auto marked = TablesOf(
      "# Kernels\n| Time (%) | Total Time (ns) | Instances | Name |\n|---|---|---|---|\n| **90.0** | 9,000 | "
      "9 | "
      "`f` |\n\nSo f it is.\n");
  EXPECT_EQ(marked[0].rows[0].name, "f");
  EXPECT_EQ(marked[0].rows[0].total_ns, 9000);
}

TEST(SummaryTable, OfAnotherToolInMarkdownIsNone) {
  EXPECT_THROW(
      TablesOf("| Time (%) | Total Time (ns) | Num Calls | Name |\n|--:|--:|--:|:--|\n| 80.0 | 8000000000 | "
               "100 | pandas.read_csv |\n| 20.0 | 2000000000 | 100 | DataFrame.merge |\n"),
      Error);
}

TEST(SummaryTable, OfAScriptMayHaveItsColumnsInAnyOrder) {
  const auto tables = TablesOf(
      "Top kernels of a run\nSource: run.nsys-rep\n\n"
      "  Time%   Total (ms)     Calls    Avg (us)    p50 (us)  Category        Operation\n"
      "------------------------------------------------------------------------------------\n"
      "   50.0        400.0       200      2000.0      1900.5  AWQ dequant     void dequantize(int *, int)\n"
      "   20.0        160.0        80      2000.0         0.5  Memory ops      [CUDA memcpy "
      "Host-to-Device]\n");
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].tool, "a script");
  ASSERT_EQ(tables[0].rows.size(), 2U);
  EXPECT_EQ(tables[0].rows[0].name, "void dequantize(int *, int)");
  EXPECT_EQ(tables[0].rows[0].total_ns, 4e8);
  EXPECT_EQ(tables[0].rows[0].median_ns, 1900.5e3);
  EXPECT_EQ(tables[0].rows[1].kind, SummaryRowKind::kCopy);
  EXPECT_EQ(tables[0].device_ns, 8e8) << "by the share of the longest";
  const auto names_first = TablesOf(
      "=== breakdown ===\nKernel            Count   Total (ms)   Mean (us)\n"
      "a_long_gemm_kernel 10        4.0          400.0\nsoftmax             5        1.0          200.0\n");
  ASSERT_EQ(names_first[0].rows.size(), 2U);
  EXPECT_EQ(names_first[0].rows[0].name, "a_long_gemm_kernel");
  EXPECT_EQ(names_first[0].rows[0].total_ns, 4e6);
  const auto drawn = TablesOf(
      "┏━━━━━━━━━━━━━┳━━━━━━━┳━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┓\n"
      "┃ Kernel Name ┃ Calls ┃ Total Time (ms) ┃ Avg (us) ┃\n"
      "┡━━━━━━━━━━━━━╇━━━━━━━╇━━━━━━━━━━━━━━━━━╇━━━━━━━━━━┩\n"
      "│ flash_fwd   │   640 │          512.00 │   800.00 │\n"
      "└─────────────┴───────┴─────────────────┴──────────┘\n");
  EXPECT_EQ(drawn[0].rows[0].total_ns, 512e6);
}

// Nothing says that its rows are of a GPU, or what the numbers are.
TEST(SummaryTable, OfFunctionsOrWithoutUnitsIsNone) {
  EXPECT_NE(RefusalOf("Profile of pipeline.py\n\nTime%   Total (ms)   Calls   Avg (us)   Name\n"
                      " 60.0      1200.0      10   120000.0   load_csv\n"),
            "");
  EXPECT_NE(RefusalOf("Linux kernel trace\nName            Calls   Total (us)   Avg (us)\n"
                      "vfs_read         1000       5000.0        5.0\n"),
            "");
  EXPECT_NE(RefusalOf("GPU breakdown\nName         Calls   CUDA Time (ms)   % of Total\n"
                      "aten::mm        40          120.0          60.0\n"),
            "");
  EXPECT_NE(RefusalOf("Kernel   Calls   Total   Avg\nconv        10   120.0   12.0\n"), "");
}

TEST(SummaryTable, OfAScriptHasNoRowsOfTotals) {
  constexpr std::string_view
      kHead = "GPU: NVIDIA A100\nKernel  Time%  Total (ms)  Calls  Avg (us)\n",
      kRows = "flash_fwd_kernel  60.0  600.0  100  6000.0\nmy_kernel  30.0  300.0  100  3000.0\n";
  for (const std::string_view total :
       {"TOTAL  100.0  900.0  200  4500.0\n", "Sum  100.0  900.0  200  4500.0\n",
        "ALL KERNELS  100.0  900.0  200  4500.0\n", "whole step  100.0  900.0  200  4500.0\n"}) {
    for (const bool above : {false, true}) {
      const std::string_view first = above ? total : kRows, second = above ? kRows : total;
      const auto tables = TablesOf(std::string(kHead) + std::string(first) + std::string(second));
      ASSERT_EQ(tables.size(), 1U);
      ASSERT_EQ(tables[0].rows.size(), 2U) << total;
      EXPECT_EQ(tables[0].rows[0].name, "flash_fwd_kernel");
    }
  }
  const auto rest =
      TablesOf(std::string(kHead) + std::string(kRows) +
               "Other (57 kernels)  10.0  100.0  300  333.3\n-----\nTotal  100.0  1000.0  500  2000.0\n");
  ASSERT_EQ(rest[0].rows.size(), 2U);
  EXPECT_EQ(rest[0].device_ns, 1e9);
}

TEST(SummaryTable, OfAScriptMayHaveAKernelThatSums) {
  const auto tables = TablesOf(
      "GPU: NVIDIA A100\nKernel  Time%  Total (ms)  Calls  Avg (us)\nmy_kernel  60.0  600.0  100  6000.0\n"
      "all  30.0  300.0  100  3000.0\nsum(float*)  10.0  100.0  100  1000.0\n");
  EXPECT_EQ(tables[0].rows.size(), 3U);
}

// "6.000,0" of German locales is no 6.
TEST(SummaryTable, NumbersOfOtherLocalesAreNotRead) {
  const std::string head = "GPU: NVIDIA A100\nKernel  Time%  Total (ms)  Calls  Avg (us)\n";
  EXPECT_NE(RefusalOf(head + "a_gemm_kernel  66,7  6.000,0  1.000  6.000,0\n"), "");
  EXPECT_NE(RefusalOf(head + "a_gemm_kernel  66,7  6000,5  1.000  6,0\n"), "");
  EXPECT_NE(RefusalOf(head + "a_gemm_kernel  66.7  6000.5  1.000  6.0\n"), "");
  EXPECT_EQ(TablesOf(head + "a_gemm_kernel  66.7  6,000.0  1,000  6,000.0\n")[0].rows[0].total_ns, 6e9);
}

TEST(SummaryTable, CallsOnTheHostAreNoTimeOfTheGpu) {
  const std::string calls =
      "CUDA API\nName  Time%  Total (ms)  Calls  Avg (us)\ncudaDeviceSynchronize  80.0  800.0  320  2500.0\n"
      "cudaLaunchKernel  20.0  200.0  640  312.5\n";
  EXPECT_NE(RefusalOf(calls), "");
  const auto tables = TablesOf(
      "CUDA kernels\nKernel  Time%  Total (ms)  Calls  Avg (us)\nmy_kernel  80.0  80.0  320  250.0\n"
      "other_kernel  20.0  20.0  320  62.5\n\n" +
      calls);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].device_ns, 1e8);
}

TEST(SummaryTable, OfAProcessorIsNone) {
  for (const std::string_view title :
       {"OpenMP, 64 threads, AMD EPYC 7763", "numba @njit kernels, CPU", "CPU: Intel Xeon, no GPU found"})
    EXPECT_NE(RefusalOf(std::string(title) + "\nKernel  Time%  Total (ms)  Calls  Avg (us)\n"
                                             "spmv_kernel  55.0  5500.0  1000  5500.0\n"
                                             "dot_kernel  45.0  4500.0  1000  4500.0\n"),
              "")
        << title;
}

// What ncu measured is elsewhere; nsys stats' tables before it are not.
TEST(SummaryTable, IsReadWhereARunUnderNsightComputeFollows) {
  const auto tables =
      TablesOf(std::string(kKernels) +
               "\n==PROF== Connected to process 557 (/build/m3)\n"
               "==PROF== Profiling \"conv\" - 1: 0%....50%....100% - 74 passes\n"
               "==PROF== Disconnected from process 557\n==PROF== Report: /build/run.ncu-rep\n");
  EXPECT_EQ(tables[0].tool, "nsys stats");
}

TEST(SummaryTable, NamesMayFillTheirColumn) {
  const auto tables = TablesOf(
      "-------  ----------  ----------\n"
      "Name           Self CPU %     Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n"
      "aten::linear       0.99%      82.668ms        18.52%        1.550s      51.651us         30000  \n"
      "aten::_local_scalar_dense 1.02%  85.137ms  2.87%     240.305ms       8.010us             30001  \n"
      "aten::argmax      2.03%     169.729ms         2.99%     249.727ms      24.973us         10000  \n"
      "-------  ----------  ----------\nSelf CPU time total: 8.366s\n");
  ASSERT_EQ(tables[0].rows.size(), 3U);
  EXPECT_EQ(tables[0].rows[1].name, "aten::_local_scalar_dense");
  EXPECT_EQ(tables[0].rows[1].calls, 30001);
}

TEST(SummaryTable, BlocksOfADocumentMayBeTablesOfOneProfile) {
  const auto tables = TablesOf("# Notes\n```\n" + std::string(kKernels) + "```\nand calls:\n```bash\n" +
                               "$ nsys stats r.nsys-rep\n" + kCalls + "```\n");
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].rows.size(), 3U);
}

// nsys stats has a row for each grid (cuda_gpu_kern_gb_sum, and gpukernsum of 2022).
TEST(SummaryTable, OneKernelWithOtherGridsIsOne) {
  const auto tables = TablesOf(
      " Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)  GridXYZ   "
      " "
      "  BlockXYZ      Name\n"
      " --------  ---------------  ---------  --------  --------  --------  --------  -----------  "
      "---------- "
      "  ------------  ----\n"
      "     60.0        6,000,000          2  3000000.0 3000000.0 2,000,000 4,000,000  1.0   64    1    1   "
      "256 "
      "   1    1  conv\n"
      "     30.0        3,000,000          1  3000000.0 3000000.0 3,000,000 3,000,000  1.0   64    1    1   "
      "256 "
      "   1    1  pool\n"
      "     10.0        1,000,000          1  1000000.0 1000000.0 1,000,000 1,000,000  1.0   16    1    1   "
      "256 "
      "   1    1  conv\n");
  ASSERT_EQ(tables[0].rows.size(), 2U);
  EXPECT_EQ(tables[0].rows[0].name, "conv");
  EXPECT_EQ(tables[0].rows[0].calls, 3);
  EXPECT_EQ(tables[0].rows[0].total_ns, 7e6);
  EXPECT_EQ(tables[0].rows[0].min_ns, 1e6);
  EXPECT_EQ(tables[0].rows[0].max_ns, 4e6);
  EXPECT_FALSE(tables[0].rows[0].median_ns.has_value());
}

TEST(SummaryTable, OneOperatorWithOtherShapesIsOne) {
  const auto tables = TablesOf(
      "Name        Self CPU %  Self CPU    CPU total %  CPU total   Self CUDA   CUDA total  # of Calls  "
      "Input "
      "Shapes\n"
      "aten::mm    40.00%      4.000ms     40.00%       4.000ms     8.000ms     8.000ms     10          [[8, "
      "8], [8, 8]]\n"
      "aten::mm    10.00%      1.000ms     10.00%       1.000ms     2.000ms     2.000ms     30          [[4, "
      "8], [8, 8]]\n");
  ASSERT_EQ(tables[0].rows.size(), 1U);
  EXPECT_EQ(tables[0].rows[0].calls, 40);
  EXPECT_EQ(tables[0].rows[0].device_self_ns, 1e7);
  EXPECT_EQ(tables[0].rows[0].self_ns, 5e6);
}

TEST(SummaryTable, NvprofNamesUnitsInItsCells) {
  const auto tables = TablesOf(
      "==7== NVPROF is profiling process 7, command: ./add 10\nsum is 3\n==7== Profiling result:\n"
      "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
      " GPU activities:   66.67%  2.0000ms         4  500.00us  400.00us  600.00us  [CUDA memcpy DtoH]\n"
      "                   33.33%  1.0000ms         1  1.0000ms  1.0000ms  1.0000ms  add(int, float*)\n"
      "      API calls:   99.00%  1.50000s         3  500.00ms  2.0000us  1.40000s  cudaMallocManaged\n\n"
      "==7== Unified Memory profiling result:\nDevice \"Tesla T4 (0)\"\n"
      "   Count  Avg Size  Min Size  Max Size  Total Size  Total Time  Name\n"
      "      48  170.67KB  4.0000KB  0.9961MB  8.000000MB  880.1550us  Host To Device\n"
      "      12         -         -         -           -  2.663872ms  Gpu page fault groups\n"
      "Total CPU Page faults: 36\n");
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].tool, "nvprof");
  EXPECT_EQ(tables[0].title, "./add 10");
  ASSERT_EQ(tables[0].rows.size(), 4U);
  EXPECT_EQ(tables[0].rows[0].kind, SummaryRowKind::kCopy);
  EXPECT_EQ(tables[0].rows[0].total_ns, 2e6);
  EXPECT_EQ(tables[0].rows[1].kind, SummaryRowKind::kKernel);
  EXPECT_EQ(tables[0].rows[2].max_ns, 1.4e9);
  EXPECT_EQ(tables[0].rows[3].name, "Unified Memory Host To Device");
  EXPECT_EQ(tables[0].rows[3].bytes, 8e6);
}

const std::string kTorchHeader =
    "-----------  ----------\n"
    "       Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA   Self "
    "CUDA %    CUDA total  CUDA time avg    # of Calls\n-----------  ----------\n";
const std::string kTorchRows =
    "                  aten::mm         2.00%       2.000ms        20.00%      20.000ms       2.000ms       "
    "8.000ms        80.00%       8.000ms     800.000us            10\n"
    "            forward (mine)        10.00%      10.000ms        90.00%      90.000ms      90.000ms       "
    "0.000us         0.00%       9.000ms       9.000ms             1\n"
    "    ampere_sgemm_128x64_tn         0.00%       0.000us         0.00%       0.000us       0.000us       "
    "8.000ms        80.00%       8.000ms     800.000us            10\n"
    "execute_context_0(0)_gen..         0.00%       0.000us         0.00%       0.000us       0.000us       "
    "9.500ms        95.00%       9.500ms       9.500ms             1\n"
    "            forward (mine)         0.00%       0.000us         0.00%       0.000us       0.000us       "
    "9.000ms        90.00%       9.000ms       9.000ms             1\n"
    "          cudaLaunchKernel         3.00%       3.000ms         3.00%       3.000ms     300.000us       "
    "0.000us         0.00%       0.000us       0.000us            10\n";
const std::string kTorchEnd =
    "-----------  ----------\nSelf CPU time total: 100.000ms\nSelf CUDA time total: 10.000ms\n";

TEST(SummaryTable, KeyAveragesTellOperatorsFromKernelsAndSpans) {
  const auto tables = TablesOf("--- baseline ---\n" + kTorchHeader + kTorchRows + kTorchEnd);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].title, "--- baseline ---");
  EXPECT_EQ(tables[0].host_ns, 1e8);
  EXPECT_EQ(tables[0].device_ns, 1e7);
  ASSERT_EQ(tables[0].rows.size(), 4U) << "what spans the work of a range is no kernel";
  EXPECT_EQ(tables[0].rows[0].kind, SummaryRowKind::kOperator);
  EXPECT_EQ(tables[0].rows[0].self_ns, 2e6);
  EXPECT_EQ(tables[0].rows[1].name, "forward (mine)");
  EXPECT_EQ(tables[0].rows[2].kind, SummaryRowKind::kKernel);
  EXPECT_EQ(tables[0].rows[2].total_ns, 8e6);
  EXPECT_EQ(tables[0].rows[3].kind, SummaryRowKind::kApi);
}

TEST(SummaryTable, KeyAveragesInTwoOrdersAreOneProfile) {
  const std::string table = kTorchHeader + kTorchRows + kTorchEnd;
  EXPECT_EQ(TablesOf(table + "\nby time of the GPU\n" + table).size(), 1U);
}

TEST(SummaryTable, OfSeveralTablesEachHasATitleOrItsLine) {
  std::string other = kTorchRows;
  other.replace(other.find("20.000ms"), 8, "30.000ms");
  const std::string end = "-----------  ----------\nSelf CPU time total: 200.000ms\n";
  const auto tables =
      TablesOf(kTorchHeader + kTorchRows + kTorchEnd + "\n--- tuned ---\n" + kTorchHeader + other + end);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].title, "the table of line 2");
  EXPECT_EQ(tables[1].title, "--- tuned ---");
}

TEST(SummaryTable, TimesOfTheGpuBelowZeroOrOfViewsDoNotHold) {
  const std::string header =
      "     Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA   Self "
      "CUDA %    CUDA total  CUDA time avg    # of Calls\n";
  const std::string conv =
      "aten::conv2d        50.00%      50.000ms        50.00%      50.000ms       5.000ms       2.000ms      "
      "  "
      "20.00%       2.000ms     200.000us            10\n";
  const std::string end = "Self CPU time total: 100.000ms\nSelf CUDA time total: 10.000ms\n";
  EXPECT_EQ(TablesOf(header + conv + end)[0].device_ns, 1e7);
  for (const char* row :
       {"aten::relu        10.00%      10.000ms        10.00%      10.000ms       1.000ms  -4000.000us       "
        "-40.00%       1.000ms     100.000us            10\n",
        "aten::select        10.00%      10.000ms        10.00%      10.000ms       1.000ms       8.000ms    "
        "    "
        "80.00%       8.000ms     800.000us            10\n"}) {
    const auto tables = TablesOf(header + conv + row + end);
    ASSERT_EQ(tables.size(), 1U);
    EXPECT_FALSE(tables[0].device_ns) << row;
    EXPECT_FALSE(tables[0].rows[0].device_self_ns) << row;
    EXPECT_TRUE(tables[0].has_device);
  }
}

TEST(SummaryTable, KeyAveragesSayMoreThanStepsWithoutTimes) {
  std::string steps;
  for (int step = 1; step <= 12; ++step) steps += "step " + std::to_string(step) + " | loss 2.5 | lr 0.001\n";
  EXPECT_EQ(TablesOf(steps + kTorchHeader + kTorchRows + kTorchEnd).size(), 1U);
}

TEST(SummaryTable, KeyAveragesOfTheCpuAlone) {
  const auto tables = TablesOf(
      "         Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls\n"
      "aten::conv2d        90.00%      90.000ms        90.00%      90.000ms       9.000ms            10\n"
      "Self CPU time total: 100.000ms\n");
  EXPECT_FALSE(tables[0].has_device);
  EXPECT_EQ(tables[0].rows[0].kind, SummaryRowKind::kOperator);
}

TEST(SummaryTable, KeyAveragesWithAChoiceOfColumns) {
  const auto tables = TablesOf(
      "----------------  ------------  ------------  ------------  ------------  ------------  ------------\n"
      "            Name    Self CPU %      Self CPU  Self CUDA %     Self CUDA    # of Calls  Source "
      "Location\n"
      "----------------  ------------  ------------  ------------  ------------  ------------  ------------\n"
      "    MASK INDICES        87.88%        5.212s        0.00%       0.000us             1  a.py(10): f  \n"
      "                                                                                       b.py(715): g \n"
      "     aten::copy_        12.07%     715.848ms       88.11%     106.402ms             2  a.py(12): f  \n"
      "Self CPU time total: 5.931s\n"
      "Self CUDA time total: 120.761ms\n");
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].rows.size(), 2u);
  EXPECT_DOUBLE_EQ(tables[0].rows[0].total_ns, 5.212e9);
  EXPECT_DOUBLE_EQ(tables[0].rows[1].device_self_ns.value(), 106.402e6);
}

TEST(SummaryTable, FunctionsOfTheWholeProgramSayMoreThanSingleOperators) {
  const Trace trace = test::ReadLog(
      "         210 function calls in 10.000 seconds\n"
      "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
      "        1    0.000    0.000   10.000   10.000 train.py:1(<module>)\n"
      "      100    4.000    0.040    4.500    0.045 a.py:5(load)\n"
      "\n"
      "  autograd profiler output (CPU mode)\n"
      "            Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls\n"
      "    aten::conv2d         0.31%      22.000us        40.31%       2.866ms       2.866ms             1\n"
      "Self CPU time total: 7.110ms\n");
  EXPECT_TRUE(trace.summary_tables.empty());
  EXPECT_EQ(trace.program_output.program, "Python's cProfile");
}

TEST(SummaryTable, RocprofTellsCallsFromKernels) {
  const auto tables = TablesOf(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n"
      "\"hipLaunchKernel\",4,400,100.0,40.0,90,110,1.0\n\"__amd_rocclr_copyBuffer\",2,100,50.0,10.0,40,60,1."
      "0\n"
      "\"void add(float*, int)\",5,500,100.0,50.0,90,110,1.0\n");
  ASSERT_EQ(tables[0].rows.size(), 3U);
  EXPECT_EQ(tables[0].tool, "rocprof");
  EXPECT_EQ(tables[0].rows[0].kind, SummaryRowKind::kApi);
  EXPECT_EQ(tables[0].rows[1].kind, SummaryRowKind::kCopy);
  EXPECT_EQ(tables[0].rows[2].kind, SummaryRowKind::kKernel);
}

TEST(SummaryTable, NamesOfRocprofHaveCommasAndNoQuotes) {
  const auto tables = TablesOf(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"
      "void launch<For<View<int**>, Range<HIP>, HIP>, 1024u, 1u>(For<View<int**>, HIP> "
      "const*),2,600000,300000,60.0\n"
      "FillBuffer,1,400000,400000,40.0\n");
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].rows.size(), 2u);
  EXPECT_EQ(tables[0].rows[0].name,
            "void launch<For<View<int**>, Range<HIP>, HIP>, 1024u, 1u>(For<View<int**>, HIP> const*)");
  EXPECT_EQ(tables[0].rows[0].calls, 2);
  EXPECT_EQ(tables[0].rows[1].kind, SummaryRowKind::kSet);
}

TEST(SummaryTable, AMDsBarrierPacketsAreNoKernels) {
  const auto tables = TablesOf(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"
      "\"<barrier packet>\",9,900,100,60.0\n\"void add(float*, int)\",5,600,120,40.0\n");
  ASSERT_EQ(tables[0].rows.size(), 1U);
  EXPECT_EQ(tables[0].rows[0].name, "void add(float*, int)");
}

TEST(SummaryTable, ATrainingsLogStaysOne) {
  std::string log;
  for (int step = 1; step <= 30; ++step) log += "step " + std::to_string(step) + " loss 2.10 0.25 s/step\n";
  EXPECT_EQ(test::ReadLog(log + kTorchHeader + kTorchRows + kTorchEnd).format, "training log");
}

TEST(SummaryTable, CutAndHostileTablesAreAnswered) {
  const std::string header =
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";
  EXPECT_THAT(RefusalOf(header), HasSubstr("a table of totals by name without a row"));
  EXPECT_THAT(RefusalOf(header + "nan,inf,-3,1e400,,,,,\"f\"\n"), HasSubstr("without a row"));
  EXPECT_EQ(TablesOf(header + "50.0,2000,2,1000,1000,1000,1000,0,f\n50.0,20")[0].rows.size(), 1U);
  const std::string quoted = "```\n" + std::string(kKernels) + "```\n";
  EXPECT_THAT(RefusalOf("# Notes\n" + quoted + "and\n" + quoted), HasSubstr("a document"));
  EXPECT_EQ(TablesOf("# Notes\n" + quoted).size(), TablesOf(kKernels).size());
}

std::string EachLine(const std::string& prefix, std::string text) {
  std::string lines;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    lines += prefix + text.substr(0, end + 1);
    text.erase(0, end + 1);
  }
  return lines;
}

TEST(SummaryTable, BehindWhatLaunchersAndLoggersPrint) {
  for (const char* prefix :
       {"[rank0]: ", "[default0]:", "0: ", "[1,0]<stdout>: ", "(Worker_TP0 pid=12) ", "# ", "> ",
        "node-a: ", "\x1b[1;36m(EngineCore_DP0 pid=1)\x1b[0;0m \x1b[1;36m(Worker_TP0 pid=2)\x1b[0;0m ",
        "2025-01-01 10:00:00,123 - INFO - ", "[2025-01-01 10:00:00] INFO: ", "INFO:root:"}) {
    SCOPED_TRACE(prefix);
    const auto tables = TablesOf(EachLine(prefix, std::string("a line\n") + kKernels + kCopies));
    ASSERT_EQ(tables.size(), 1U);
    ASSERT_EQ(tables[0].rows.size(), 3U);
    EXPECT_EQ(tables[0].rows[0].name, "void f<int>(int)");
  }
}

TEST(SummaryTable, ClocksOfAPrefixMayGoOnAndOtherRanksAreNotItsOwn) {
  std::string lines;
  std::string rest = kKernels;
  int second = 0;
  for (size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
    lines += "2025-01-01 10:00:0" + std::to_string(second++) + ",123 - INFO - " + rest.substr(0, end + 1);
    rest.erase(0, end + 1);
  }
  EXPECT_EQ(TablesOf(lines)[0].rows.size(), 2U);
  std::string ranks;
  for (const std::string& line : {EachLine("[rank0]: ", kKernels)}) ranks += line;
  const size_t last = ranks.rfind("[rank0]");
  ranks.insert(
      last,
      "[rank1]:      10.0          900,000         10  90000.0  90000.0    90,000   90,000  1.0  other\n");
  const auto tables = TablesOf(ranks);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].rows.size(), 2U) << "and a row of another rank within it";
}

TEST(SummaryTable, TellsMoreThanTheStartOfAServer) {
  const Trace trace = test::ReadLog(
      "INFO 01-01 10:00:00 [core.py:1] Initializing a V1 LLM engine (v0.9.0) with config: model='m'\n"
      "INFO 01-01 10:00:05 [default_loader.py:1] Loading weights took 4.00 seconds\n"
      "INFO 01-01 10:00:09 [core.py:1] init engine (profile, create kv cache, warmup model) took 4.00 "
      "seconds\n" +
      std::string(kKernels));
  EXPECT_EQ(trace.format, "summary");
}

TEST(SummaryTables, RocprofComputeBreaksNamesIntoLines) {
  const std::string rule = "├────┼──────┤\n";
  const Trace t = test::ReadLog(
      "0.1 Top Kernels\n╒════╤══════╕\n"
      "│    │ Kernel_Name  │   Count │  Count │    Sum(ns) │ Sum(ns)   │   Mean(ns) │ Mean(ns) │   Pct │ Pct "
      "  │\n" +
      rule +
      "│  0 │ flux(double*,│  150.00 │ 150 (0.0%) │ 1500000.00 │ 1700000.0 (1%) │ 10000.00 │ 11000.0 (1%) │ "
      "75.00 │ 77.0 (2%) │\n"
      "│    │ int)         │         │        │            │           │            │          │       │     "
      "  │\n" +
      rule +
      "│  1 │ __amd_rocclr_fillBufferAligned │ 150.00 │ 150 (0.0%) │ 300000.00 │ 300000.0 (0%) │ 2000.00 │ "
      "2000.0 (0%) │ 15.00 │ 14.0 (1%) │\n"
      "╘════╧══════╛\n");
  ASSERT_EQ(t.summary_tables.size(), 1u);
  const SummaryTable& table = t.summary_tables[0];
  EXPECT_EQ(table.tool, "rocprof-compute");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].name, "flux(double*,int)");
  EXPECT_EQ(table.rows[0].calls, 150);
  EXPECT_DOUBLE_EQ(table.rows[0].total_ns, 1.5e6) << "of the first of two workloads";
  EXPECT_EQ(table.rows[1].kind, SummaryRowKind::kSet);
  EXPECT_DOUBLE_EQ(table.device_ns.value_or(0), 2e6) << "it lists the longest alone";
}

}  // namespace
}  // namespace dladvisor
