// SPDX-License-Identifier: Apache-2.0
// Tables of results: of one's own benchmarks, and of trtexec.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ReadProgram;
using test::RefusalOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ResultTables, SettingsAndTheTimeOfEach) {
  const ProgramOutput output = ReadProgram(
      "split,batch_size,micro,max_tokens,peak_mb,total_latency_ms,status\n"
      "a,32,16,512,4838,83651.5,ok\n"
      "a,32,8,512,4748,132309.0,ok\n"
      "b,32,16,512,4838,62437.0,ok\n"
      "b,64,16,512,,,oom\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "total_latency_ms");
  EXPECT_FALSE(output.results->rate);
  EXPECT_THAT(output.results->settings, ElementsAre("split", "batch_size", "micro"));
  ASSERT_EQ(output.results->rows.size(), 4u);
  EXPECT_THAT(output.results->rows[2].values, ElementsAre("b", "32", "16"));
  EXPECT_DOUBLE_EQ(output.results->rows[2].result, 62437);
  EXPECT_EQ(output.results->rows[3].result, 0);
  EXPECT_EQ(output.results->failed, 1);
}

TEST(ResultTables, ColumnsOfWaysToDoTheSame) {
  std::string text =
      "+-----+-----+-----+\n| Length | CPU Seq (s) | GPU Par (s) | Speedup |\n+=====+=====+=====+\n";
  for (int length = 1; length < 5; ++length)
    text += fmt::format("| {} | 0.{}5 | 0.{} | 1.5x |\n+-----+-----+-----+\n", length, length, length);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("Length", ""));
  ASSERT_EQ(output.results->rows.size(), 8u);
  EXPECT_THAT(output.results->rows[1].values, ElementsAre("1", "GPU Par (s)"));
}

TEST(ResultTables, TitlesOfTablesAreASetting) {
  std::string text;
  for (const char* way : {"peer", "staged"})
    text += fmt::format(
        "=== {} ===\nsize      time(ms)     bw(GB/s)\n1024      0.1      0.01\n2048      0.2      0.02\n\n",
        way);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("size", "table"));
  EXPECT_THAT(output.results->rows[3].values, ElementsAre("2048", "staged"));
}

TEST(ResultTables, OtherTablesAreNone) {
  EXPECT_THAT(RefusalOf("name,size,kind\na,0.5,x\nb,0.4,y\nc,0.3,x\nd,0.2,y\ne,0.1,x\n"),
              HasSubstr("not a profile"));
  EXPECT_THAT(RefusalOf("type,time ms,percent\ncompute,6,60\ncopy,2,20\nidle,2,20\nother,1,10\n"),
              HasSubstr("not a profile"))
      << "parts of one run";
  EXPECT_THAT(RefusalOf("Op Name,Kernel Name,Total GPU Time (ns)\na,x,6\na,y,2\nb,x,2\nb,y,1\n"),
              HasSubstr("not a profile"))
      << "a profile";
  EXPECT_THAT(RefusalOf("name,latency_ms,kind\na,1.5,x\nb,2.5,x\n"), HasSubstr("not a profile"))
      << "two rows";
}

TEST(ResultTables, SummariesOfTrtexec) {
  std::string text = "[I] Precision: FP32+FP16\n";
  for (const int batch : {1, 4})
    text += fmt::format(
        "[I] Input inference shape : images={}x3x640x640\n[I] === Performance summary ===\n[I] Throughput: "
        "345.1 "
        "qps\n"
        "[I] Latency: min = 2.8 ms, max = 2.9 ms, mean = 3.5 ms, median = 2.8 ms\n"
        "[I] Enqueue Time: min = 0.01 ms, max = 0.4 ms, mean = 0.05 ms, median = 0.03 ms\n"
        "[I] H2D Latency: min = 0.1 ms, max = 0.2 ms, mean = 0.25 ms, median = 0.1 ms\n"
        "[I] GPU Compute Time: min = 2.8 ms, max = 2.9 ms, mean = 2.75 ms, median = 2.8 ms\n"
        "[I] D2H Latency: min = 0.1 ms, max = 0.2 ms, mean = 0.5 ms, median = 0.1 ms\n"
        "[I] Total Host Walltime: 10.0 s\n[I] Total GPU Compute Time: 9.5 s\n",
        batch);
  const ProgramOutput output = ReadProgram(text);
  EXPECT_EQ(output.program, "TensorRT's trtexec");
  ASSERT_EQ(output.engines.size(), 2u);
  const EngineTest& test = output.engines[1];
  EXPECT_DOUBLE_EQ(test.queries_per_s, 345.1);
  EXPECT_EQ(test.batch, 4);
  EXPECT_EQ(test.precision, "FP32+FP16");
  EXPECT_DOUBLE_EQ(*test.latency_ns, 3.5e6);
  EXPECT_DOUBLE_EQ(*test.upload_ns, 0.25e6);
  EXPECT_DOUBLE_EQ(*test.download_ns, 0.5e6);
  EXPECT_DOUBLE_EQ(*test.compute_ns, 2.75e6);
  EXPECT_DOUBLE_EQ(*test.all_compute_ns, 9.5e9);
}

TEST(ResultTables, ServersUnderMoreAndMoreRequests) {
  std::string text = "*** Measurement Settings ***\n  Batch size: 2\n\n";
  for (const int at_once : {4, 2})
    text += fmt::format(
        "Request concurrency: {}\n  Client: \n    Request count: 83\n    Throughput: {}.5 infer/sec\n"
        "    p50 latency: 433066 usec\n    p99 latency: 690618 usec\n  Server: \n    Inference count: 166\n"
        "    Execution count: 83\n    Avg request latency: 400000 usec (overhead 376 usec + queue 100000 "
        "usec + "
        "compute input 20 usec + compute infer 290000 usec + compute output 30 usec)\n\n",
        at_once, at_once);
  text +=
      "Request concurrency: 8\n  Failed to obtain stable measurement.\n"
      "Inferences/Second vs. Client p95 Batch Latency\nConcurrency: 2, throughput: 2.5 infer/sec, latency "
      "665004 usec\nConcurrency: 6, throughput: 7.25 infer/sec, latency 700000 usec\n";
  const ProgramOutput output = ReadProgram(text);
  EXPECT_EQ(output.program, "Triton's perf_analyzer");
  ASSERT_EQ(output.loads.size(), 3u);
  const LoadTest& test = output.loads[0];
  EXPECT_EQ(test.concurrency, 2);
  EXPECT_DOUBLE_EQ(test.infer_per_s, 2.5);
  EXPECT_DOUBLE_EQ(*test.latency_ns, 433066e3);
  EXPECT_DOUBLE_EQ(*test.queue_ns, 1e8);
  EXPECT_DOUBLE_EQ(*test.compute_ns, 2.9e8);
  EXPECT_EQ(test.executions, 83);
  EXPECT_EQ(output.loads[2].concurrency, 6);
  EXPECT_DOUBLE_EQ(*output.loads[2].latency_ns, 7e8);
}

}  // namespace
}  // namespace dladvisor
