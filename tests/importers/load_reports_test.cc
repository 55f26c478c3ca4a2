// SPDX-License-Identifier: Apache-2.0
// Results of clients over HTTP, of engines without a server, and of queues that servers tell of.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ReadProgram;
using test::RefusalOf;

const RequestBenchmark& OnlyOf(const ProgramOutput& output) {
  static const RequestBenchmark none;
  EXPECT_EQ(output.benchmarks.size(), 1U);
  return output.benchmarks.empty() ? none : output.benchmarks[0];
}

TEST(LoadReports, Wrk) {
  const ProgramOutput output = ReadProgram(
      "Running 30s test @ http://127.0.0.1:8080/predict\n  4 threads and 64 connections\n"
      "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   412.00ms   98.21ms   1.21s    "
      "77.12%\n"
      "    Req/Sec    39.11     15.02   101.00     70.20%\n  4651 requests in 30.05s, 1.20MB read\n"
      "  Socket errors: connect 0, read 0, write 0, timeout 12\nRequests/sec:    154.78\nTransfer/sec:     "
      "40.91KB\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.program, "wrk");
  EXPECT_EQ(result.requests, 4651);
  EXPECT_EQ(result.failed, 12);
  EXPECT_DOUBLE_EQ(result.limit.value_or(0), 64);
  EXPECT_DOUBLE_EQ(result.latency_mean_ns.value_or(0), 412e6);
  EXPECT_DOUBLE_EQ(result.answered_per_s.value_or(0), 154.78);
}

TEST(LoadReports, Hey) {
  const ProgramOutput output = ReadProgram(
      "\nSummary:\n  Total:\t10.2031 secs\n  Slowest:\t0.9102 secs\n  Fastest:\t0.0412 secs\n  "
      "Average:\t0.4971 secs\n"
      "  Requests/sec:\t98.0114\n\nLatency distribution:\n  50% in 0.4901 secs\n  99% in 0.8801 secs\n\n"
      "Status code distribution:\n  [200]\t988 responses\n  [503]\t12 responses\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.requests, 988);
  EXPECT_EQ(result.failed, 12);
  EXPECT_DOUBLE_EQ(result.latency_p99_ns.value_or(0), 880.1e6);
}

TEST(LoadReports, ApacheBenchTakesTheTimeOfARequestAndNotOfTheTest) {
  const ProgramOutput output = ReadProgram(
      "This is ApacheBench, Version 2.3\nConcurrency Level:      10\nTime taken for tests:   4.512 seconds\n"
      "Complete requests:      100\nFailed requests:        7\nRequests per second:    22.16 [#/sec] (mean)\n"
      "Time per request:       451.200 [ms] (mean)\n"
      "Time per request:       45.120 [ms] (mean, across all concurrent requests)\n  50%    440\n  99%    "
      "612\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.requests, 100);
  EXPECT_FALSE(result.failed) << "answers of other lengths";
  EXPECT_DOUBLE_EQ(result.latency_mean_ns.value_or(0), 451.2e6);
}

TEST(LoadReports, K6) {
  const ProgramOutput output = ReadProgram(
      "     http_req_blocked...............: avg=31.1µs   min=1.2µs   med=3.1µs   max=4.21ms   p(90)=5.1µs   "
      "p(95)=7.2µs\n"
      "     http_req_duration..............: avg=1.01s    min=120ms   med=990ms   max=2.31s    p(90)=1.41s   "
      "p(95)=1.61s\n"
      "     http_req_failed................: 0.33%   ✓ 10        ✗ 2971\n"
      "     http_reqs......................: 2981    49.68/s\n     vus............................: 50      "
      "min=50      max=50\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.requests, 2971);
  EXPECT_EQ(result.failed, 10);
  EXPECT_DOUBLE_EQ(result.latency_mean_ns.value_or(0), 1.01e9);
  EXPECT_DOUBLE_EQ(result.limit.value_or(0), 50);
}

TEST(LoadReports, LocustsLastRowIsOfAll) {
  const ProgramOutput output = ReadProgram(
      "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response "
      "Time,Max "
      "Response Time,Average Content Size,Requests/s,Failures/s,50%,99%\n"
      "POST,/predict,12011,0,210,231.1,31,1201,512.0,99.8,0.0,210,710\n"
      "POST,/embed,3011,15,45,51.2,10,401,4096.0,25.1,0.1,45,200\n"
      ",Aggregated,15022,15,180,195.0,10,1201,1230.0,124.9,0.1,180,680\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.requests, 15007);
  EXPECT_DOUBLE_EQ(result.answered_per_s.value_or(0), 124.9);
  EXPECT_DOUBLE_EQ(result.latency_p99_ns.value_or(0), 680e6);
  ASSERT_TRUE(result.waits_most);
  EXPECT_EQ(result.waits_most->name, "POST /predict");
  EXPECT_EQ(result.waits_most->requests, 12011);
  EXPECT_NEAR(result.waits_most->share, 12011 * 231.1 / (12011 * 231.1 + 3011 * 51.2), 1e-9);
  EXPECT_DOUBLE_EQ(result.waits_most->longest_ns.value_or(0), 1201e6);
}

TEST(LoadReports, LocustsHistoryIsOfAllUntilThen) {
  const ProgramOutput output = ReadProgram(
      "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,99%,Total Request Count,Total Failure "
      "Count,Total Median Response Time,Total Average Response Time,Total Min Response Time,Total Max "
      "Response Time,Total Average Content Size\n"
      "1638784840,0,,Aggregated,0.0,0.0,N/A,N/A,0,0,0,0,0,0,0\n"
      "1638784841,10,,Aggregated,0.0,0.0,2000,2100,0,0,2000,2010.5,2007,2050,8.0\n"
      "1638784861,10,,Aggregated,5.0,0.0,2000,2100,100,4,2000,2019.6,2007,2057,8.0\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.program, "Locust");
  EXPECT_EQ(result.requests, 96);
  EXPECT_EQ(result.limit, 10);
  EXPECT_DOUBLE_EQ(result.answered_per_s.value_or(0), 4.8);
  EXPECT_DOUBLE_EQ(result.latency_mean_ns.value_or(0), 2019.6e6);
}

TEST(LoadReports, LocustsTableIsPrintedAgainAndAgain) {
  const std::string header =
      "Type     Name        # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s\n"
      "--------|----------|-------|-------------|-------|-------|-------|-------|--------|-----------\n";
  const ProgramOutput output = ReadProgram(
      header +
      "POST     /chat          10     0(0.00%) |    900     100    1100    890 |    1.00        0.00\n" +
      "         Aggregated     10     0(0.00%) |    900     100    1100    890 |    1.00        0.00\n\n" +
      header +
      "POST     /chat          90     2(2.22%) |    812      95    4031    640 |    3.90        0.10\n"
      "GET      /health        10     0(0.00%) |     12       5      31     10 |    0.50        0.00\n"
      "         Aggregated    100     2(2.00%) |    732       5    4031    600 |    4.40        0.10\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.requests, 98);
  EXPECT_EQ(result.failed, 2);
  EXPECT_DOUBLE_EQ(result.answered_per_s.value_or(0), 4.4);
  ASSERT_TRUE(result.waits_most);
  EXPECT_EQ(result.waits_most->name, "POST /chat");
}

TEST(LoadReports, ASummaryOfOnesOwnInJson) {
  const auto read = [](const std::string& requests) {
    return ReadProgram(
        R"({"summary": {"requested_rps": 10.5, "duration_seconds": 300, "total_requests": 3150, "achieved_rps": 10.4,)"
        R"( "ok": 3150, "timeouts": 3, "http_errors": 2, "latency_p50": 1.1, "latency_p99": 5.5}, "results": [)" +
        requests + "]}");
  };
  const ProgramOutput output =
      read(R"({"latency_seconds": 1.0, "status": "ok"}, {"latency_seconds": 2.0, "status": "ok"})");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.program, "a load test");
  EXPECT_EQ(result.requests, 3145);
  EXPECT_EQ(result.failed, 5);
  EXPECT_DOUBLE_EQ(result.answered_per_s.value_or(0), 10.4);
  EXPECT_DOUBLE_EQ(result.request_rate.value_or(0), 10.5);
  EXPECT_DOUBLE_EQ(result.latency_median_ns.value_or(0), 1.1e9);
  EXPECT_DOUBLE_EQ(result.latency_mean_ns.value_or(0), 1.5e9);
}

TEST(LoadReports, AMedianIsNoMeanAndAllFailuresHoldTheirKinds) {
  const ProgramOutput output = ReadProgram(
      R"({"total_requests": 100, "rps": 4.0, "failed_requests": 9, "timeouts": 5, "errors": 9, "p50_ms": 12})");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.failed, 9);
  EXPECT_FALSE(result.latency_mean_ns);
  EXPECT_DOUBLE_EQ(result.latency_median_ns.value_or(0), 12e6);
}

TEST(LoadReports, TimesWithoutAUnitAreNoneAndSoAreThoseOfSeveral) {
  EXPECT_NE(RefusalOf(R"({"requests": 10, "rps": 4.0, "p50": 12, "p99": 40})"), "");
  EXPECT_NE(RefusalOf(R"({"requests": 10, "rps": 4.0, "p50_ms": 12, "mean_seconds": 0.013})"), "");
}

TEST(LoadReports, Vegeta) {
  const ProgramOutput output = ReadProgram(
      "Requests      [total, rate, throughput]         1000, 50.05, 47.10\n"
      "Duration      [total, attack, wait]             21.2s, 19.98s, 1.22s\n"
      "Latencies     [min, mean, 50, 90, 95, 99, max]  110ms, 812ms, 790ms, 1.1s, 1.2s, 1.9s, 2.2s\n"
      "Success       [ratio]                           99.80%\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.requests, 998);
  EXPECT_EQ(result.failed, 2);
  EXPECT_DOUBLE_EQ(result.latency_mean_ns.value_or(0), 812e6);
  EXPECT_DOUBLE_EQ(result.latency_p99_ns.value_or(0), 1.9e9);
  EXPECT_DOUBLE_EQ(result.answered_per_s.value_or(0), 47.1);
}

TEST(LoadReports, TrtllmBenchIsNoStartOfAServer) {
  const ProgramOutput output = ReadProgram(
      "[TensorRT-LLM] TensorRT-LLM version: 0.17.0\n= REQUEST DETAILS\nNumber of requests:             1000\n"
      "Average Output Length (tokens): 128.0000\n= PERFORMANCE OVERVIEW\n====\n"
      "Request Throughput (req/sec):                     36.8102\n"
      "Total Output Throughput (tokens/sec):             4711.7100\nTotal Latency (ms):    27166.4\n"
      "Average request latency (ms):                     14120.3\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(output.program, "trtllm-bench");
  EXPECT_FALSE(result.served);
  EXPECT_EQ(result.requests, 1000);
  EXPECT_DOUBLE_EQ(result.output_tokens_per_s.value_or(0), 4711.71);
  EXPECT_DOUBLE_EQ(result.duration_ns.value_or(0), 27166.4e6);
}

TEST(LoadReports, ThroughputOfVllmSaysMoreThanItsBar) {
  const ProgramOutput output = ReadProgram(
      "Processed prompts: 100%|██████████| 1000/1000 [00:59<00:00, 16.76it/s, est. speed input: 8581.12 "
      "toks/s, "
      "output: 2145.28 toks/s]\n"
      "Throughput: 16.70 requests/s, 10688.12 total tokens/s, 2137.62 output tokens/s\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_DOUBLE_EQ(result.output_tokens_per_s.value_or(0), 2137.62);
  EXPECT_DOUBLE_EQ(result.answered_per_s.value_or(0), 16.7);
}

TEST(LoadReports, ManagerOfTensorRt) {
  const ProgramOutput output = ReadProgram(
      "[BENCHMARK] num_samples 1000\n[BENCHMARK] num_error_samples 0\n\n[BENCHMARK] num_samples 1000\n"
      "[BENCHMARK] total_latency(ms) 44121.30\n[BENCHMARK] seq_throughput(seq/sec) 22.66\n"
      "[BENCHMARK] token_throughput(token/sec) 2900.97\n[BENCHMARK] avg_sequence_latency(ms) 22100.11\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_EQ(result.requests, 1000);
  EXPECT_DOUBLE_EQ(result.output_tokens_per_s.value_or(0), 2900.97);
}

TEST(LoadReports, GenAiPerfsFile) {
  const ProgramOutput output = ReadProgram(
      "Metric,avg,min,max,p99,p50\nTime To First Token "
      "(ms),\"1,210.5\",402.10,\"2,402.10\",\"2,390.10\",\"1,180.5\"\n"
      "Inter Token Latency (ms),18.5,15.10,24.21,23.90,18.10\nRequest Latency (ms),\"3,540.5\",1,2,3,4\n"
      "Output Sequence Length,128.00,120.00,130.00,130.00,128.00\n\nMetric,Value\n"
      "Output Token Throughput (per sec),\"1,152.40\"\nRequest Throughput (per sec),9.00\n");
  const RequestBenchmark& result = OnlyOf(output);
  EXPECT_DOUBLE_EQ(result.first_mean_ns.value_or(0), 1210.5e6);
  EXPECT_DOUBLE_EQ(result.latency_mean_ns.value_or(0), 3540.5e6);
  EXPECT_DOUBLE_EQ(result.output_tokens_per_s.value_or(0), 1152.4);
}

TEST(Queues, OfRequestsThatAServerPrints) {
  std::string text;
  for (int i = 0; i < 5; ++i)
    text += fmt::format(
        "2024-05-04T10:01:{:02}.1Z  INFO text_generation_router: generate{{parameters=1 total_time=\"7.5s\" "
        "validation_time=\"382.5µs\" queue_time=\"2.5s\" inference_time=\"5s\" time_per_token=\"19.5ms\"}}: "
        "Success\n",
        10 * i);
  const ProgramOutput output = ReadProgram(text);
  EXPECT_EQ(output.queue.lines, 5);
  EXPECT_DOUBLE_EQ(output.queue.part, 5 * 2.5e9);
  EXPECT_DOUBLE_EQ(output.queue.whole, 5 * 7.5e9);
  EXPECT_TRUE(output.parts.empty()) << "pauses until the next request";
}

TEST(Queues, OfOnesOwnServerWithoutATotal) {
  std::string text;
  for (int i = 0; i < 5; ++i)
    text += fmt::format("INFO 2024-05-04 10:01:{:02} request {}: queue_ms=30.0 inference_ms=10.0\n", i, i);
  const ProgramOutput output = ReadProgram(text);
  EXPECT_EQ(output.queue.lines, 5);
  EXPECT_DOUBLE_EQ(output.queue.whole, 5 * 40e6);
}

TEST(Queues, OfTorchServeAndOfMetrics) {
  std::string text;
  for (int i = 0; i < 3; ++i)
    text +=
        "2024-03-01T10:00:00,121 [INFO ] W-9000-m TS_METRICS - QueueTime.Milliseconds:150.0|#Level:Host|#h\n"
        "2024-03-01T10:00:00,122 [INFO ] W-9000-m MODEL_METRICS - HandlerTime.ms:50.0|#ModelName:m|#h\n";
  const ProgramOutput torchserve = ReadProgram(text);
  EXPECT_EQ(torchserve.program, "TorchServe");
  EXPECT_DOUBLE_EQ(torchserve.queue.whole, 3 * 200e6);
  const ProgramOutput triton = ReadProgram(
      "# TYPE nv_inference_request_success counter\nnv_inference_request_success{model=\"m\",version=\"1\"} "
      "1000\n"
      "nv_inference_request_duration_us{model=\"m\",version=\"1\"} 4000000\n"
      "nv_inference_queue_duration_us{model=\"m\",version=\"1\"} 3000000\n");
  EXPECT_EQ(triton.queue.lines, 1000);
  EXPECT_DOUBLE_EQ(triton.queue.part / triton.queue.whole, 0.75);
}

}  // namespace
}  // namespace dladvisor
