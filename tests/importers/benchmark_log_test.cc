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
  EXPECT_DOUBLE_EQ(test.least_ns.value_or(0), 12340);
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

constexpr const char* kLlamaTable =
    "ggml_cuda_init: found 1 CUDA devices:\n"
    "  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n"
    "| model                          |       size |     params | backend    | ngl | fa |            test |  "
    "                t/s |\n"
    "| ------------------------------ | ---------: | ---------: | ---------- | --: | -: | --------------: | "
    "-------------------: |\n"
    "| llama 7B Q4_0                  |   3.50 GiB |     6.74 B | CUDA       |  99 |  0 |           pp512 |  "
    "    9000.00 ± 12.18 |\n"
    "| llama 7B Q4_0                  |   3.50 GiB |     6.74 B | CUDA       |  99 |  0 |           tg128 |  "
    "      140.00 ± 0.09 |\n"
    "| llama 7B Q4_0                  |   3.50 GiB |     6.74 B | CUDA       |  99 |  1 |   tg128 @ d4096 |  "
    "      150.50 ± 0.09 |\n"
    "\nbuild: 34ce48d97 (7356)\n";

TEST(GenerationTests, OfTheTableOfLlamaBench) {
  const ProgramOutput output = test::ReadProgram(kLlamaTable);
  EXPECT_EQ(output.program, "llama-bench");
  ASSERT_EQ(output.generations.size(), 3U);
  const GenerationTest& reads = output.generations[0];
  EXPECT_EQ(reads.model, "llama 7B Q4_0");
  EXPECT_EQ(reads.backend, "CUDA");
  EXPECT_EQ(reads.gpu, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(reads.settings, "fa=0");
  EXPECT_EQ(reads.prompt_tokens, 512);
  EXPECT_EQ(reads.generated_tokens, 0);
  EXPECT_DOUBLE_EQ(reads.model_bytes, 3.5 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(reads.tokens_per_s, 9000);
  EXPECT_EQ(output.generations[2].test, "tg128 @ d4096");
  EXPECT_EQ(output.generations[2].generated_tokens, 128);
  EXPECT_DOUBLE_EQ(output.generations[2].tokens_per_s, 150.5);
}

TEST(GenerationTests, OfJsonAndCsvOfLlamaBench) {
  const auto record = [](const char* threads, const char* generated) {
    return fmt::format(
        R"({{"build_commit": "8cf427ff", "gpu_info": "NVIDIA GeForce RTX 4080", "backends": "CUDA", "model_type": "qwen2 7B Q4_K - Medium", "model_size": 4677120000, "n_threads": {}, "n_gpu_layers": 99, "n_prompt": 0, "n_gen": {}, "avg_ts": 118.88}})",
        threads, generated);
  };
  const std::string one = record("8", "128"), other = record("16", "256");
  for (const std::string& text :
       {"[\n  " + one + ",\n  " + other + "\n]\n", one + "\n" + other + "\n",
        std::string(
            "build_commit,gpu_info,backends,model_type,model_size,n_threads,n_gpu_layers,n_prompt,n_gen,avg_"
            "ts\n"
            "\"8cf427ff\",\"NVIDIA GeForce RTX 4080\",\"CUDA\",\"qwen2 7B Q4_K - Medium\",\"4677120000\","
            "\"8\",\"99\",\"0\",\"128\",\"118.88\"\n"
            "\"8cf427ff\",\"NVIDIA GeForce RTX 4080\",\"CUDA\",\"qwen2 7B Q4_K - Medium\",\"4677120000\","
            "\"16\",\"99\",\"0\",\"256\",\"118.88\"\n")}) {
    const ProgramOutput output = test::ReadProgram(text);
    ASSERT_EQ(output.generations.size(), 2U) << text;
    EXPECT_EQ(output.generations[0].test, "tg128");
    EXPECT_EQ(output.generations[0].settings, "threads=8");
    EXPECT_EQ(output.generations[0].gpu, "NVIDIA GeForce RTX 4080");
    EXPECT_DOUBLE_EQ(output.generations[1].tokens_per_s, 118.88);
    EXPECT_DOUBLE_EQ(output.generations[1].model_bytes, 4677120000);
  }
  EXPECT_THAT(test::RefusalOf(one.substr(0, one.size() - 20)),
              testing::HasSubstr("the result of llama-bench without a row"));
}

TEST(PerfReports, OfTheTerminalAndOfJson) {
  const ProgramOutput printed = test::ReadProgram(
      "                              NVIDIA GenAI-Perf | LLM Metrics\n"
      "┃                         Statistic ┃      avg ┃      min ┃      max ┃      p99 ┃      p90 ┃\n"
      "│          Time to first token (ms) │ 2,016.50 │    12.39 │ 3,217.25 │ 3,117.09 │ 3,016.68 │\n"
      "│          Inter token latency (ms) │     1.85 │     1.55 │     2.04 │     2.02 │     1.97 │\n"
      "│ Output token throughput (per sec) │   520.87 │      N/A │      N/A │      N/A │      N/A │\n"
      "│            Output sequence length │   261.90 │   256.00 │   298.00 │   296.60 │   270.00 │\n"
      "│      Request throughput (per sec) │     2.00 │      N/A │      N/A │      N/A │      N/A │\n");
  ASSERT_EQ(printed.benchmarks.size(), 1U);
  EXPECT_EQ(printed.benchmarks[0].requests, 0);
  EXPECT_DOUBLE_EQ(printed.benchmarks[0].first_mean_ns.value_or(0), 2016.5e6);
  EXPECT_DOUBLE_EQ(printed.benchmarks[0].first_p99_ns.value_or(0), 3117.09e6);
  EXPECT_DOUBLE_EQ(printed.benchmarks[0].output_tokens.value_or(0), 261.9);
  EXPECT_DOUBLE_EQ(printed.benchmarks[0].answered_per_s.value_or(0), 2);
  const ProgramOutput saved = test::ReadProgram(
      R"({"request_throughput": {"unit": "requests/sec", "avg": 2.0}, "request_count": {"unit": "requests", "avg": 50}, )"
      R"("time_to_first_token": {"unit": "ms", "avg": 16.5, "p50": 15.5, "p99": 30}, )"
      R"("output_sequence_length": {"unit": "tokens", "avg": 100}})");
  ASSERT_EQ(saved.benchmarks.size(), 1U);
  EXPECT_EQ(saved.benchmarks[0].requests, 50);
  EXPECT_DOUBLE_EQ(saved.benchmarks[0].first_median_ns.value_or(0), 15.5e6);
  EXPECT_DOUBLE_EQ(saved.benchmarks[0].output_tokens.value_or(0), 5000);
}

TEST(BenchmarkLog, TakesWhatScriptsMeasureOfCollectives) {
  const TransferTest payload = Only(
      test::ReadProgram("[node-a:0]:1\n[node-a:0]:2\n"
                        "[node-a:0]:The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 16 "
                        "ranks):\n"
                        "[node-a:0]: algbw: 44.947 GBps (359.6 Gbps)\n"
                        "[node-a:0]: busbw: 84.275 GBps (674.2 Gbps)\n"));
  EXPECT_EQ(payload.collective, "all_reduce");
  EXPECT_EQ(payload.gpus, 16);
  EXPECT_EQ(payload.hosts, 0);
  EXPECT_DOUBLE_EQ(payload.most_bytes, 4e9);
  EXPECT_DOUBLE_EQ(payload.bus_bytes_per_s, 84.275e9);
  EXPECT_FALSE(payload.least_ns);

  const TransferTest sizes = Only(
      test::ReadProgram("Device info: _CudaDeviceProperties(name='NVIDIA H100 80GB HBM3', major=9)\n\n"
                        "The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):\n\n"
                        "| payload |    busbw   |    algbw   |\n| ------: | ---------: | ---------: |\n"
                        "|   32KiB |   0.92GBps |   0.50GBps |\n|   16GiB | 480.00GBps | 274.31GBps |\n"));
  EXPECT_EQ(sizes.gpu, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(sizes.gpus, 8);
  EXPECT_DOUBLE_EQ(sizes.bus_bytes_per_s, 480e9);
  EXPECT_DOUBLE_EQ(sizes.most_bytes, 16.0 * (1 << 30));
  EXPECT_NEAR(sizes.least_ns.value_or(0), 65536, 1);

  const TransferTest bits = Only(test::ReadProgram(
      "a0: ---- Performance of all_gather on 8 devices -------------------------------\n"
      "a0: Size (Bytes)      Description         Duration        Throughput (Gbps)   BusBW (Gbps)\n"
      "a0: ------------------------------------------------------------------------------\n"
      "a0: 31.67 GB          8501054668x4        3176.620 ms     171.272             149.863\n"));
  EXPECT_EQ(bits.collective, "all_gather");
  EXPECT_DOUBLE_EQ(bits.most_bytes, 4.0 * 8501054668);
  EXPECT_DOUBLE_EQ(bits.bus_bytes_per_s, 149.863e9 / 8);
}

TEST(BenchmarkLog, TakesTheMiddleOfWhatRanksPrintOfEachTrial) {
  std::string log = "0 data size: 4.0 GB\n1 data size: 4.0 GB\n";
  for (const char* bus : {"10.0000", "80.0000", "84.0000"})
    for (const char* rank : {"0", "1"})
      log += fmt::format(
          "{}:\n duration: 0.7085 sec\n algo throughput: 1.0 bps, 0.0001 Gbps\n busbw: {}  Gbps\n", rank,
          bus);
  const TransferTest test = Only(test::ReadProgram(log));
  EXPECT_EQ(test.gpus, 2);
  EXPECT_DOUBLE_EQ(test.most_bytes, 4e9);
  EXPECT_DOUBLE_EQ(test.bus_bytes_per_s, 1e10);
}

}  // namespace
}  // namespace dladvisor
