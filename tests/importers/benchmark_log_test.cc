// SPDX-License-Identifier: Apache-2.0
// What benchmarks print and save: nccl-tests, and clients of servers.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

TEST(RequestBenchmarks, PrintedWithoutAnAnswerOrCutSayWhatTheyAre) {
  const std::string head = "============ Serving Benchmark Result ============\nSuccessful requests:   ";
  EXPECT_THAT(test::RefusalOf(head + "0\nBenchmark duration (s):    100.00\nMean TTFT (ms):    0.00\n"),
              testing::HasSubstr("a benchmark of a server without a request that was answered"));
  EXPECT_THAT(test::RefusalOf(head + "100\nBenchmark duration (s):    100.00\nMean TTFT (ms):    "),
              testing::HasSubstr("that names no time until the first token"));
}

TEST(TransferTests, ThatFailSaySo) {
  const ProgramOutput output = test::ReadProgram(
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw "
      "  "
      "busbw #wrong\n"
      "           8             2     float     sum      -1     30.00    0.00    0.00      0     30.00    "
      "0.00  "
      "  0.00      0\n"
      "       32768          8192     float     sum      -1     30.16    1.09    1.90      0     30.16    "
      "1.09  "
      "  1.90      0\n"
      "node1: Test NCCL failure common.cu:1005 'unhandled system error / '\n"
      " .. node1 pid 1: Test failure common.cu:891\n");
  EXPECT_EQ(output.error, "Test NCCL failure common.cu:1005 'unhandled system error");
}

constexpr const char* kDevices =
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 "
    "validation: 1\n"
    "#\n# Using devices\n"
    "#  Rank  0 Group  0 Pid  64904 on    alpha device  0 [0000:17:00] NVIDIA A100-SXM4-80GB\n"
    "#  Rank  1 Group  0 Pid  64904 on    alpha device  1 [0x65] NVIDIA A100-SXM4-80GB\n"
    "#\n#                                                              out-of-place                       "
    "in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
    "(GB/s)\n";

TransferTest Only(const ProgramOutput& output) {
  EXPECT_EQ(output.transfers.size(), 1U);
  return output.transfers.empty() ? TransferTest() : output.transfers[0];
}

TEST(BenchmarkLog, TakesTheLargestTransferOfNcclTests) {
  const ProgramOutput output =
      test::ReadProgram(std::string("# Collective test starting: all_reduce_perf\n") + kDevices +
                        "           8             2     float     sum      -1    12.34    0.00    0.00      "
                        "0    11.88    0.00    0.00      0\n"
                        "  1073741824     268435456     float     sum      -1   4769.1  225.15  225.15      "
                        "0   4700.2  228.45  230.50      0\n"
                        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 112.5\n");
  const TransferTest test = Only(output);
  EXPECT_EQ(output.program, "nccl-tests");
  EXPECT_EQ(test.collective, "all_reduce_perf");
  EXPECT_EQ(test.gpu, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(test.gpus, 2);
  EXPECT_EQ(test.hosts, 1);
  EXPECT_DOUBLE_EQ(test.most_bytes, 1073741824);
  EXPECT_DOUBLE_EQ(test.bus_bytes_per_s, 230.5e9);
  EXPECT_DOUBLE_EQ(test.least_ns, 12340);
}

TEST(BenchmarkLog, ReadsRowsThatLinesOfNcclCut) {
  const TransferTest test = Only(test::ReadProgram(
      std::string(kDevices) +
      "alpha:1:9 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n"
      "alpha:1:9 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0\n"
      "alpha:1:9 [0] NCCL INFO 4 coll channels, 4 collnet channels, 0 nvls channels, 4 p2p channels\n"
      "alpha:1:9 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"
      "     8388608       2097152     float     sum      -1alpha:1:9 [1] NCCL INFO AllReduce: opCount 0 "
      "count 2097152\n"
      "alpha:1:9 [0] NCCL INFO AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..1}\n"
      "    314.7   26.66   26.66      0alpha:1:9 [1] NCCL INFO AllReduce: opCount 0 count 2097152\n"
      "[0]    310.8   26.99   27.25      0\n"));
  EXPECT_DOUBLE_EQ(test.bus_bytes_per_s, 27.25e9);
  EXPECT_EQ(test.settings, "NCCL_P2P_DISABLE=1");
  EXPECT_EQ(test.channels, 4);
  EXPECT_EQ(test.over, "SHM");
}

TEST(BenchmarkLog, ReadsRowsOfOldVersionsAndBehindARank) {
  const ProgramOutput output = test::ReadProgram(
      std::string(kDevices) +
      " 0:   8388608   2097152   float   sum   314.7   26.66   26.66  0e+00   310.8   26.99   26.99  0e+00\n"
      " 0:  16777216   4194304   float   sum     629   26.66   27.50  0e+00     628   26.99   26.99    "
      "N/A\n");
  EXPECT_DOUBLE_EQ(Only(output).bus_bytes_per_s, 27.5e9);
}

TEST(BenchmarkLog, CountsWrongValuesAndReadsLongTimes) {
  const TransferTest test =
      Only(test::ReadProgram(std::string(kDevices) + "     8388608       2097152     float     sum      -1   "
                                                     " 314.7   26.66   26.66      3    310.8   26.99   "
                                                     "26.99    N/A\n"
                                                     "  8589934592    2147483648     float     sum      -1  "
                                                     "6.5e+04  131.30  229.80      2  6.5e+04  131.00  "
                                                     "229.00      0\n"));
  EXPECT_EQ(test.wrong_values, 5);
  EXPECT_DOUBLE_EQ(test.bus_bytes_per_s, 229.8e9);
}

TEST(BenchmarkLog, NamesTheTestsOfAmdsGpus) {
  EXPECT_EQ(
      test::ReadProgram("#  Rank  0 Group  0 Pid  64904 on alpha device  0 [0000:17:00] AMD Instinct MI300X\n"
                        "#  size  count  type  redop  root  time  algbw  busbw #wrong\n"
                        " 8388608  2097152  float  sum  -1  314.7  26.66  26.66  0  310.8  26.99  26.99  0\n")
          .program,
      "rccl-tests");
}

constexpr const char* kResult =
    "100%|##########| 100/100 [00:36<00:00,  2.76it/s]\n"
    "============ Serving Benchmark Result ============\n"
    "Successful requests:                     100       \n"
    "Maximum request concurrency:             25        \n"
    "Request rate configured (RPS):           inf       \n"
    "Benchmark duration (s):                  36.17     \n"
    "Total input tokens:                      16589     \n"
    "Total generated tokens:                  12700     \n"
    "Output token throughput (tok/s):         352.14    \n"
    "---------------Time to First Token----------------\n"
    "Mean TTFT (ms):                          12532.30  \n"
    "Median TTFT (ms):                        12119.49  \n"
    "P99 TTFT (ms):                           18094.13  \n"
    "-----Time per Output Token (excl. 1st token)------\n"
    "Mean TPOT (ms):                          179.07    \n"
    "==================================================\n";

TEST(BenchmarkLog, ReadsWhatAClientOfAServerPrints) {
  const ProgramOutput output = test::ReadProgram(kResult);
  ASSERT_EQ(output.benchmarks.size(), 1U);
  const RequestBenchmark& result = output.benchmarks[0];
  EXPECT_EQ(result.requests, 100);
  EXPECT_EQ(result.limit, 25);
  EXPECT_FALSE(result.request_rate);
  EXPECT_DOUBLE_EQ(result.first_median_ns.value_or(0), 12119.49e6);
  EXPECT_DOUBLE_EQ(result.token_mean_ns.value_or(0), 179.07e6);
  EXPECT_TRUE(output.parts.empty());
  EXPECT_TRUE(output.figures.empty());
}

TEST(BenchmarkLog, ReadsWhatAClientOfAServerSaves) {
  const std::string result =
      R"({"backend": "sglang", "request_rate": Infinity, "max_concurrency": 16, "duration": 38.5, "completed": 100, )"
      R"("total_input_tokens": 1000, "total_output_tokens": 2000, "request_throughput": 2.57, "output_throughput": 51.9, )"
      R"("mean_ttft_ms": 900.5, "median_ttft_ms": 800.0, "p99_ttft_ms": 1500.0, "mean_tpot_ms": 9.5})";
  for (const std::string& text : {result, result + "\n", result + "\n" + result + "\n"}) {
    const ProgramOutput output = test::ReadProgram(text);
    ASSERT_FALSE(output.benchmarks.empty());
    EXPECT_EQ(output.benchmarks.back().requests, 100);
    EXPECT_EQ(output.benchmarks.back().limit, 16);
    EXPECT_FALSE(output.benchmarks.back().request_rate);
    EXPECT_DOUBLE_EQ(output.benchmarks.back().first_mean_ns.value_or(0), 900.5e6);
  }
}

TEST(BenchmarkLog, SaysWhyAResultIsNotRead) {
  const auto result = [](const std::string& completed) {
    return R"({"completed": )" + completed + R"(, "request_throughput": 2.5, "mean_ttft_ms": 9.5})";
  };
  EXPECT_THAT(test::RefusalOf(result("0")), testing::HasSubstr("without a request that was answered"));
  EXPECT_THAT(test::RefusalOf(result("5").substr(0, 60)), testing::HasSubstr("cut or not JSON"));
  EXPECT_THAT(test::RefusalOf(result("\"5\"")), testing::HasSubstr("not as the benchmarks of vLLM"));
  EXPECT_THAT(test::RefusalOf(result("1e300")), testing::HasSubstr("not as the benchmarks of vLLM"));
}

}  // namespace
}  // namespace dladvisor
