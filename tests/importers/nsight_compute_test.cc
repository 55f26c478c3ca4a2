// SPDX-License-Identifier: Apache-2.0
// What Nsight Compute prints of single kernels: its pages as text and as CSV, of several versions, alone and
// behind what the program prints.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/trace/trace.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::RefusalOf;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;

std::vector<SummaryTable> TablesOf(const std::string& text) {
  const Trace trace = test::ReadLog(text);
  EXPECT_EQ(trace.format, "summary");
  return trace.summary_tables;
}

auto Near(double value) { return Optional(DoubleNear(value, 1e-6 * (value > 1 ? value : 1))); }

constexpr const char* kBegin =
    "==PROF== Connected to process 77 (/home/me/run)\n"
    "==PROF== Profiling \"scale\" - 0: 0%....50%....100% - 8 passes\n"
    "step 1 loss 2.5\n"
    "==PROF== Disconnected from process 77\n"
    "[77] run@127.0.0.1\n";

// As of 2022.3 and later.
std::string Details(const std::string& grid, const std::string& duration, const std::string& name = "scale") {
  return fmt::format(
      "  void {}<float>(float *, int) ({}, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 7.5\n"
      "    Section: GPU Speed Of Light Throughput\n"
      "    ----------------------- ----------- ------------\n"
      "    Metric Name             Metric Unit Metric Value\n"
      "    ----------------------- ----------- ------------\n"
      "    SM Frequency                    Mhz       576.84\n"
      "    Elapsed Cycles                cycle    1,234,567\n"
      "    Memory Throughput                 %        61.35\n"
      "    DRAM Throughput                   %        60.84\n"
      "    Duration                         us {:>12}\n"
      "    L1/TEX Cache Throughput           %         7.31\n"
      "    Compute (SM) Throughput           %         0.35\n"
      "    ----------------------- ----------- ------------\n"
      "\n"
      "    OPT   This kernel grid is too small to fill the available resources on this device, resulting in "
      "only "
      "0.0 full\n"
      "          waves across all SMs. Look at Launch Statistics for more details.\n"
      "\n"
      "    Section: Launch Statistics\n"
      "    -------------------------------- --------------- ---------------\n"
      "    Metric Name                          Metric Unit    Metric Value\n"
      "    -------------------------------- --------------- ---------------\n"
      "    Function Cache Configuration                     CachePreferNone\n"
      "    Registers Per Thread             register/thread              52\n"
      "    Dynamic Shared Memory Per Block      Kbyte/block            1.02\n"
      "    Static Shared Memory Per Block        byte/block              36\n"
      "    Waves Per SM                                                0.02\n"
      "    -------------------------------- --------------- ---------------\n"
      "\n"
      "    OPT   Est. Speedup: 92.5%                                       \n"
      "          The grid for this launch is configured to execute only 3 blocks, which is less than the "
      "GPU's 40 \n"
      "          multiprocessors.\n"
      "    ----- --------------------------------------------------\n"
      "    INF   FMA is the highest-utilized pipeline (36.9%) based on active cycles.\n"
      "\n"
      "    Section: Memory Workload Analysis\n"
      "    ----------------------- ----------- ------------\n"
      "    Memory Throughput           Gbyte/s       109.73\n"
      "    ----------------------- ----------- ------------\n"
      "\n"
      "    Section: Occupancy\n"
      "    ------------------------------- ----------- ------------\n"
      "    Block Limit Registers                 block            4\n"
      "    Block Limit Warps                     block            8\n"
      "    Theoretical Occupancy                     %          100\n"
      "    Achieved Occupancy                        %        20.37\n"
      "    ------------------------------- ----------- ------------\n"
      "\n",
      name, grid, duration);
}

TEST(NsightCompute, PrintsDetailsOfEachLaunchBehindTheProgram) {
  const auto tables =
      TablesOf(kBegin + Details("3", "5.66") + Details("30", "1,005.66") + Details("7", "10", "sum"));
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].tool, "Nsight Compute");
  EXPECT_EQ(tables[0].title, "run");
  EXPECT_TRUE(tables[0].is_one_by_one);
  ASSERT_EQ(tables[0].rows.size(), 2U);
  EXPECT_EQ(tables[0].rows[0].name, "void scale<float>(float *, int)");
  EXPECT_EQ(tables[0].rows[0].calls, 2);
  EXPECT_NEAR(tables[0].rows[0].total_ns, 1'011'320, 1e-3);
  ASSERT_EQ(tables[0].kernels.size(), 2U);
  const KernelMeasurement& kernel = tables[0].kernels[0];
  EXPECT_EQ(kernel.grid_blocks, 30) << "of the longest launch";
  EXPECT_EQ(kernel.block_threads, 256);
  EXPECT_EQ(kernel.registers, 52);
  EXPECT_THAT(kernel.shared_bytes, Near(1056));
  EXPECT_EQ(kernel.multiprocessors, 40) << "as a message says";
  EXPECT_THAT(kernel.waves, Near(0.02));
  EXPECT_THAT(kernel.memory_share, Near(0.6135)) << "not what is in Gbyte/s";
  EXPECT_THAT(kernel.dram_share, Near(0.6084));
  EXPECT_THAT(kernel.compute_share, Near(0.0035));
  EXPECT_EQ(kernel.l2_share, std::nullopt);
  EXPECT_THAT(kernel.theoretical_occupancy, Near(1));
  EXPECT_THAT(kernel.achieved_occupancy, Near(0.2037));
  EXPECT_EQ(kernel.blocks_by_registers, 4);
  EXPECT_EQ(kernel.pipe, "FMA");
  EXPECT_THAT(kernel.pipe_share, Near(0.369));
  ASSERT_EQ(kernel.messages.size(), 3U);
  EXPECT_EQ(kernel.messages[0].about, "small-grid");
  EXPECT_EQ(kernel.messages[0].most_speedup, std::nullopt);
  EXPECT_EQ(kernel.messages[1].kind, "OPT");
  EXPECT_THAT(kernel.messages[1].most_speedup, Near(0.925));
  EXPECT_THAT(kernel.messages[1].text, HasSubstr("GPU's 40 multiprocessors."));
}

TEST(NsightCompute, PrintedDatesAndShorterNamesBefore2022) {
  const std::string rule =
      "    ---------------------------------------------------------------------- --------------- "
      "------------------------------\n";
  const auto row = [](const char* name, const char* unit, const char* value) {
    return fmt::format("    {:<70} {:>15} {:>30}\n", name, unit, value);
  };
  const auto tables =
      TablesOf(std::string(kBegin) +
               "  infini::sg2bmm(float*, float*), 2023-Apr-25 02:51:38, Context 1, Stream 25\n"
               "    Section: GPU Speed Of Light\n" +
               rule + row("Memory [%]", "%", "82.53") + row("SOL DRAM", "%", "1.61") +
               row("Duration", "msecond", "13.26") + row("SOL L2 Cache", "%", "82.53") +
               row("SM [%]", "%", "11.57") + rule +
               "    WRN   The memory access pattern for loads from L1TEX to L2 is not optimal.\n\n"
               "    Section: Launch Statistics\n" +
               rule + row("Block Size", "", "667") + row("Grid Size", "", "2,000") + rule +
               "\n  infini::other(float*), 2023-Apr-25 02:51:39, Context 1, Stream 25\n"
               "    NVTX Push/Pop Stack for Thread 77:\n"
               "        <0,forward>\n"
               "    Section: Command line profiler metrics\n" +
               rule + row("gpu__time_duration.sum", "usecond", "3.07") + row("launch__grid_size", "", "1") +
               row("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "0.04") + rule);
  ASSERT_EQ(tables[0].rows.size(), 2U);
  EXPECT_EQ(tables[0].rows[0].name, "infini::sg2bmm(float*, float*)");
  EXPECT_NEAR(tables[0].rows[0].total_ns, 13.26e6, 1e-3);
  EXPECT_EQ(tables[0].kernels[0].grid_blocks, 2000);
  EXPECT_THAT(tables[0].kernels[0].l2_share, Near(0.8253));
  EXPECT_EQ(tables[0].kernels[0].messages[0].about, "uncoalesced");
  EXPECT_NEAR(tables[0].rows[1].total_ns, 3070, 1e-6);
  EXPECT_THAT(tables[0].kernels[1].compute_share, Near(0.0004));
}

TEST(NsightCompute, SumsUpLaunchesOfAKernel) {
  const auto tables = TablesOf(
      "  color(float *) (125, 125, 13)x(8, 8, 8), Device 0, CC 8.9, Invocations 10\n"
      "    Section: GPU Speed Of Light Throughput\n"
      "    ----------------------- ----------- ------------ ------------ ------------\n"
      "    Metric Name             Metric Unit      Minimum      Maximum      Average\n"
      "    ----------------------- ----------- ------------ ------------ ------------\n"
      "    DRAM Throughput                   %        89.15        93.47        91.29\n"
      "    Duration                         ms         2.93         3.16         3.06\n"
      "    ----------------------- ----------- ------------ ------------ ------------\n");
  EXPECT_EQ(tables[0].rows[0].calls, 10);
  EXPECT_NEAR(tables[0].rows[0].total_ns, 30.6e6, 1e-3);
  EXPECT_EQ(tables[0].kernels[0].grid_blocks, 125 * 125 * 13);
  EXPECT_THAT(tables[0].kernels[0].dram_share, Near(0.9129));
}

TEST(NsightCompute, CsvHasARowForEachMetricAndMessage) {
  const auto tables = TablesOf(
      "==PROF== Connected to process 108 (run)\n"
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
      "Size\","
      "\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
      "Value\",\"Rule "
      "Name\",\"Rule Type\",\"Rule Description\",\"Estimated Speedup Type\",\"Estimated Speedup\"\n"
      "\"0\",\"108\",\"run\",\"h\",\"f(int, float *)\",\"1\",\"7\",\"(32, 2, 1)\",\"(4, 1, "
      "1)\",\"0\",\"8.0\","
      "\"S\",\"Duration\",\"ns\",\"1,500\",\"\",\"\",\"\",\"\",\"\"\n"
      "\"0\",\"108\",\"run\",\"h\",\"f(int, float *)\",\"1\",\"7\",\"(32, 2, 1)\",\"(4, 1, "
      "1)\",\"0\",\"8.0\","
      "\"S\",\"\",\"\",\"\",\"R\",\"OPT\",\"A \"\"bank conflict\"\" in shared memory\",\"local\",\"31.5\"\n"
      "\"1\",\"108\",\"run\",\"h\",\"f(int, float *)\",\"1\",\"7\",\"(32, 2, 1)\",\"(8, 1, "
      "1)\",\"0\",\"8.0\","
      "\"S\",\"Duration\",\"us\",\"1\",\n");  // as newer versions end a row without a rule
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables[0].rows.size(), 1U);
  EXPECT_EQ(tables[0].rows[0].calls, 2);
  EXPECT_NEAR(tables[0].rows[0].total_ns, 2500, 1e-6);
  EXPECT_EQ(tables[0].kernels[0].block_threads, 64);
  EXPECT_EQ(tables[0].kernels[0].grid_blocks, 4) << "of the longest";
  ASSERT_EQ(tables[0].kernels[0].messages.size(), 1U);
  EXPECT_EQ(tables[0].kernels[0].messages[0].about, "bank-conflicts");
  EXPECT_TRUE(tables[0].kernels[0].messages[0].is_local);
  EXPECT_THAT(tables[0].kernels[0].messages[0].most_speedup, Near(0.315));
}

TEST(NsightCompute, CsvOfRawMetricsHasAColumnForEach) {
  const auto tables = TablesOf(
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
      "Size\","
      "\"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\",\"launch__registers_per_thread\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"register/thread\"\n"
      "\"0\",\"108\",\"a\",\"h\",\"saxpy(int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(4096, 1, "
      "1)\",\"0\",\"8.9\",\"12.5\","
      "\"32\"\n"
      "\"0\",\"109\",\"b\",\"h\",\"saxpy(int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(4096, 1, "
      "1)\",\"0\",\"8.9\",\"3.2\","
      "\"16\"\n");
  ASSERT_EQ(tables.size(), 2U) << "a table for each process";
  EXPECT_NEAR(tables[0].rows[0].total_ns, 12500, 1e-6);
  EXPECT_EQ(tables[0].kernels[0].registers, 32);
  EXPECT_EQ(tables[1].title, "b");
}

TEST(NsightCompute, CommasArePointsWhereTheyCanBeNothingElse) {
  std::string text = Details("3", "1.005,66");
  for (const auto& [from, to] :
       {std::pair{"576.84", "576,84"}, {"1,234,567", "1.234.567"}, {"61.35", "61,35"}})
    text.replace(text.find(from), std::string(from).size(), to);
  const auto tables = TablesOf(kBegin + text);
  EXPECT_NEAR(tables[0].rows[0].total_ns, 1'005'660, 1e-3);
  EXPECT_THAT(tables[0].kernels[0].memory_share, Near(0.6135));
}

TEST(NsightCompute, TimeFollowsFromCyclesWhereItIsNotPrinted) {
  std::string text = Details("3", "n/a");
  const auto tables = TablesOf(kBegin + text);
  EXPECT_NEAR(tables[0].rows[0].total_ns, 1234567 / 576.84e6 * 1e9, 1);
}

TEST(NsightCompute, ReadsWhatIsLeftOfACutFile) {
  const std::string text = kBegin + Details("3", "5.66");
  for (size_t size = text.find("Section:"); size < text.size(); size += 97) {
    try {
      test::ReadLog(text.substr(0, size));
    } catch (const Error&) {
    }
  }
  const auto tables = TablesOf(text.substr(0, text.find("    L1/TEX")));
  EXPECT_NEAR(tables[0].rows[0].total_ns, 5660, 1e-6);
}

TEST(NsightCompute, SectionsWithoutMetricsAreNoKernel) {
  EXPECT_THAT(RefusalOf("  f(int) (3, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 7.5\n"
                        "    Section: GPU Speed Of Light Throughput\n"
                        "    ----------------------- ----------- ------------\n"
                        "    ----------------------- ----------- ------------\n"),
              Not(IsEmpty()));
}

TEST(NsightCompute, KernelsOfOtherMetricsAreKernelsWithoutATime) {
  const auto tables = TablesOf(
      "  f(int) (3, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 7.5\n"
      "    Section: Command line profiler metrics\n"
      "    -------------------------- ----------- ------------\n"
      "    l1tex__t_bytes.sum               Mbyte         1.08\n"
      "    -------------------------- ----------- ------------\n");
  EXPECT_EQ(tables[0].rows[0].calls, 1);
  EXPECT_EQ(tables[0].rows[0].total_ns, 0);
  EXPECT_EQ(tables[0].kernels[0].grid_blocks, 3);
}

TEST(NsightCompute, MetricsChosenByHandTellWhichBytesAreUsed) {
  const auto tables = TablesOf(
      "  transpose(int) (64, 64, 1)x(32, 8, 1), Context 1, Stream 7, Device 0, CC 8.0\n"
      "    Section: Command line profiler metrics\n"
      "    ------------------------------------------------------------- ----------- ------------\n"
      "    smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct           %          100\n"
      "    smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct           %        12.50\n"
      "    ------------------------------------------------------------- ----------- ------------\n");
  EXPECT_EQ(tables[0].kernels[0].load_efficiency, 1);
  EXPECT_EQ(tables[0].kernels[0].store_efficiency, 0.125);
  EXPECT_EQ(tables[0].kernels[0].access_efficiency, 0.125);
}

TEST(NsightCompute, OutputWithoutKernelsSaysWhatToDo) {
  const std::string begin = "==PROF== Connected to process 77 (/home/me/run)\n";
  EXPECT_THAT(
      RefusalOf(begin + "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
                        "NVIDIA GPU Performance Counters on the target device 0.\nepoch took 3.5 s\n"),
      HasSubstr("run ncu as root"));
  EXPECT_THAT(RefusalOf(begin + "==PROF== Report: /home/me/run.ncu-rep\n"),
              HasSubstr("ncu --import /home/me/run.ncu-rep --page details"));
  EXPECT_THAT(RefusalOf(begin + "==WARNING== No kernels were profiled.\n"), HasSubstr("--kernel-name"));
  EXPECT_THAT(RefusalOf(begin + "  f(int) (3, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 7.5\n"
                                "    Section: Command line profiler metrics\n"
                                "    -------------- ----------- ------------\n"
                                "    sm_cycles.avg                   (!) n/a\n"
                                "    -------------- ----------- ------------\n"),
              HasSubstr("ncu --query-metrics"));
  EXPECT_THAT(RefusalOf(begin + "==ERROR== LaunchFailed\n"
                                "  f(int) (0, 0, 0)x(0, 0, 0), Context 1, Stream 7, Device 0, CC 8.9\n"
                                "    Section: GPU Speed Of Light Throughput\n"
                                "    -------------- ----------- ------------\n"
                                "    Metric Name    Metric Unit Metric Value\n"
                                "    -------------- ----------- ------------\n"
                                "    Elapsed Cycles       cycle      (!) nan\n"
                                "    Grid Size                       (!) n/a\n"
                                "    -------------- ----------- ------------\n\n"
                                "    ERR   Rule Bottleneck returned an error: Metric x not found\n"),
              HasSubstr("the launch of f failed (LaunchFailed)"));
}

constexpr const char* kByteOrderMark = "\xEF\xBB\xBF";

TEST(NsightCompute, TheSummaryOfItsWindowIsReadWithoutWhatItComparesWith) {
  const auto tables = TablesOf(
      std::string(kByteOrderMark) +
      "ID,Estimated Speedup [%],Function Name,Demangled Name,Duration [ms],Runtime Improvement [ms],Compute "
      "Throughput [%],Memory Throughput [%],# Registers [register/thread],Grid Size,Block Size [block]\n"
      "0,80.00,encode,encode..const..,0.00,0.00,1.97,15.64,26,\"    8,    1,    1\",\"  512,    1,    1\"\n"
      "1,0.00,matmul,matmul..const..,0.35 (+11878.43%),0.00,11.11 (+462.51%),49.93 (+219.25%),48  "
      "(+84.62%),\"  256,  144,    1\",\"   16,   16,    1\"\n"
      "2,0.00,matmul,matmul..const..,0.25 (+178.43%),0.00,11.00,49.90,48,\"  128,  144,    1\",\"   16,   "
      "16,  "
      "  1\"\n");
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].rows.size(), 2u);
  EXPECT_EQ(tables[0].rows[1].name, "matmul");
  EXPECT_EQ(tables[0].rows[1].calls, 2);
  EXPECT_NEAR(tables[0].rows[1].total_ns, 600'000, 1e-3);
  const KernelMeasurement& longest = tables[0].kernels[1];
  EXPECT_THAT(longest.compute_share, Near(0.1111));
  EXPECT_THAT(longest.memory_share, Near(0.4993));
  EXPECT_THAT(longest.grid_blocks, Near(256 * 144));
  EXPECT_THAT(longest.block_threads, Near(256));
  EXPECT_THAT(longest.registers, Near(48));
}

TEST(NsightCompute, RowsBehindAByteOrderMarkAreOfTheLaunchThatTheySay) {
  const auto tables = TablesOf(
      std::string(kByteOrderMark) +
      "ID,Process ID,Process Name,Host Name,Kernel Name,Kernel Time,Context,Stream,Section Name,Metric "
      "Name,Metric Unit,Metric Value\n"
      "0,9,app,127.0.0.1,f,2020-Oct-25 20:27:10,1,15,Command line profiler "
      "metrics,sm__cycles_elapsed.avg,cycle,800\n"
      "0,9,app,127.0.0.1,f,2020-Oct-25 20:27:10,1,15,Command line profiler "
      "metrics,sm__cycles_elapsed.avg.per_second,cycle/second,1000000000\n"
      "0,9,app,127.0.0.1,f,2020-Oct-25 20:27:10,1,15,GPU Speed Of Light,Elapsed Cycles,cycle,1000\n"
      "0,9,app,127.0.0.1,f,2020-Oct-25 20:27:10,1,15,GPU Speed Of Light,SM Active Cycles,cycle,600\n"
      "0,9,app,127.0.0.1,f,2020-Oct-25 20:27:10,1,15,GPU Speed Of Light,Duration,nsecond,900\n");
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].rows.size(), 1u);
  EXPECT_EQ(tables[0].rows[0].calls, 1);
  EXPECT_EQ(tables[0].rows[0].total_ns, 900);
  EXPECT_THAT(tables[0].kernels[0].multiprocessor_share, Near(0.75));
}

}  // namespace
}  // namespace dladvisor
