// SPDX-License-Identifier: Apache-2.0
// Chrome traces of other profilers than PyTorch's that record GPU work.
#include "src/importers/kineto/gpu_dialect.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "src/importers/importers.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Trace ReadDialect(const std::string& text) {
  const test::ScratchDir dir;
  test::WriteFile(dir.path() / "results.json", text);
  return ReadProfile(dir.path() / "results.json");
}

std::string NamedProcess(int pid, const std::string& name) {
  return fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}},)", pid, name);
}

std::string RocprofEvent(int pid, int tid, const std::string& name, int64_t begin, int64_t end,
                         const std::string& more) {
  return fmt::format(
      R"({{"ph":"X","name":"{}","pid":"{}","tid":"{}","ts":"{}","dur":"{}","args":{{"BeginNs":"{}","EndNs":"{}",)"
      R"("Name":"{}","pid":"517","tid":"518",{}"DurationNs":"{}"}}}},)",
      name, pid, tid, begin / 1000, (end - begin) / 1000, begin, end, name, more, end - begin);
}

constexpr char kAgents[] =
    R"x("otherData":{"Agent1.DeviceType":"CPU","Agent1.Node":"0","Agent2.DeviceType":"GPU","Agent2.Node":"1",)x"
    R"x("Agent2.MarketingName":"AMDInstinctMI210","Agent2.ComputeUnit":"104",)x"
    R"x("Agent2.PoolInfo.Pool1.Size":"67092480(0x3ffc000)KB","Agent2.MaxClockFreq.(MHz)" : "1700"
})x";

std::string RocprofTrace() {
  return R"({"traceEvents":[{},)" + NamedProcess(2, "CPU HIP API") + NamedProcess(3, "CPU HSA API") +
         NamedProcess(1, "COPY") + NamedProcess(7, "GPU1") + NamedProcess(9, "Markers and Ranges") +
         RocprofEvent(1, 1, "CopyHostToDevice", 20'123, 28'456, R"("dev-id":"1","stream-id":"1",)") +
         RocprofEvent(2, 518, "hipMemcpyWithStream", 10'000, 30'000,
                      R"x("args":"( dst(0x7f) src(0x7e) sizeBytes(4096) kind(1) stream(1))",)x") +
         RocprofEvent(3, 518, "hsa_signal_wait_scacquire", 12'000, 29'000, "") +
         RocprofEvent(
             2, 518, "hipLaunchKernel", 40'000, 44'000,
             R"x("args":"( kernel(mm) numBlocks({z(1) y(2) x(8}) dimBlocks({z(1) y(1) x(256}) stream(1))",)x") +
         RocprofEvent(7, 1, "mm", 50'100, 55'700, R"("dev-id":"1","stream-id":"1",)") +
         RocprofEvent(7, 1, "<barrier packet>", 55'800, 55'900, R"("dev-id":"1","stream-id":"1",)") +
         RocprofEvent(9, 518, "forward", 5'000, 60'000, "") +
         R"({"ts":20,"ph":"s","cat":"DataFlow","id":0,"pid":2,"tid":518,"name":"dep"},)"
         R"({"ts":20,"ph":"t","cat":"DataFlow","id":0,"pid":1,"tid":1,"name":"dep"},)"
         R"({"ts":42,"ph":"s","cat":"DataFlow","id":1,"pid":2,"tid":518,"name":"dep"},)"
         R"({"ts":50,"ph":"t","cat":"DataFlow","id":1,"pid":7,"tid":1,"name":"dep"}],)" +
         kAgents + "}";
}

TEST(Rocprof, RecordsCallsAndTheWorkThatTheyLaunch) {
  const Trace t = ReadDialect(RocprofTrace());
  EXPECT_EQ(t.format, "rocprof");
  EXPECT_EQ(t.facts.at("profiler"), "rocprof");
  EXPECT_FALSE(t.facts.contains("framework"));
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "mm");
  EXPECT_EQ(t.kernels.end[0] - t.kernels.start[0], 5'600);
  EXPECT_EQ(t.kernels.grid[0], 16);
  EXPECT_EQ(t.kernels.block[0], 256);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(t.copies.bytes[0], 4096);
  EXPECT_EQ(t.copies.stream[0], 1);
  ASSERT_EQ(t.api_calls.size(), 2u);  // what HIP calls of HSA is a part of its time
  EXPECT_EQ(t.api_calls.correlation[0], t.copies.correlation[0]);
  EXPECT_EQ(t.api_calls.correlation[1], t.kernels.correlation[0]);
  EXPECT_EQ(t.threads[t.api_calls.thread[0]].tid, 518);
  EXPECT_EQ(t.processes[t.threads[t.api_calls.thread[0]].process].pid, 517);
  ASSERT_EQ(t.ranges.size(), 1u);
  EXPECT_EQ(t.names.View(t.ranges.name[0]), "forward");
  EXPECT_THAT(t.health.rows_unknown, IsEmpty());
}

TEST(Rocprof, TellsOfItsGpus) {
  const Trace t = ReadDialect(RocprofTrace());
  ASSERT_EQ(t.devices.size(), 1u);
  EXPECT_EQ(t.devices[0].name, "AMD Instinct MI210");
  EXPECT_EQ(t.devices[0].sm_count, 104);
  EXPECT_EQ(t.devices[0].memory_bytes, 67'092'480 * 1024LL);
}

// Calls in one clock and kernels in another: what both have is the time in microseconds.
TEST(Rocprof, LeavesOutExactTimesOfTwoClocks) {
  const Trace t = ReadDialect(
      R"({"traceEvents":[)" + NamedProcess(2, "CPU HIP API") + NamedProcess(7, "GPU1") +
      RocprofEvent(2, 518, "hipLaunchKernel", 40'000, 44'000, "") +
      R"({"ph":"X","name":"mm","pid":7,"tid":1,"ts":50,"dur":6,"args":{"BeginNs":"1000000000050100",)"
      R"("EndNs":"1000000000055700"}}]})");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.start[0] - t.api_calls.start[0], 10'000);
  EXPECT_EQ(t.kernels.end[0] - t.kernels.start[0], 6'000);
}

std::string TimelineOp(int pid, const std::string& name, int ts, int dur) {
  return fmt::format(
      R"({{"ph":"X","cat":"Op","name":"{}","pid":{},"tid":0,"ts":{},"dur":{},"args":{{"name":"a/b","op":"{}"}}}},)",
      name, pid, ts, dur, name);
}

TEST(TensorFlowTimeline, ListsKernelsOnTheirStreams) {
  const Trace t = ReadDialect(
      R"({"traceEvents":[)" + NamedProcess(1, "/job:localhost/replica:0/task:0/device:CPU:0 Compute") +
      NamedProcess(3, "/job:localhost/replica:0/task:0/device:GPU:0 Compute") +
      NamedProcess(5, "/device:GPU:0/stream:all Compute") +
      NamedProcess(7, "/device:GPU:0/stream:13 Compute") +
      NamedProcess(9, "/device:GPU:0/stream:14 Compute") + NamedProcess(11, "/device:GPU:0/memcpy Compute") +
      TimelineOp(1, "VariableV2", 100, 5) + TimelineOp(3, "MatMul", 120, 9) +
      TimelineOp(5, "MatMul", 140, 40) + TimelineOp(7, "MatMul", 140, 40) +
      TimelineOp(9, "MEMCPYHtoD", 110, 8) + TimelineOp(11, "MEMCPYHtoD", 110, 8) +
      R"({"ph":"s","cat":"DataFlow","id":1,"pid":3,"tid":0,"ts":120,"name":"MatMul"}]})");
  EXPECT_EQ(t.format, "timeline");
  EXPECT_EQ(t.facts.at("framework"), "TensorFlow");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.stream[0], 13);
  EXPECT_EQ(t.devices[t.kernels.device[0]].ordinal, 0);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(t.ranges.size(), 2u);
}

TEST(TensorFlowTimeline, MarksAndWaitsAreNoOperators) {
  std::string events;
  for (const char* name : {"_SOURCE", "_SINK", "NoOp", "_Recv", "_Send", "_HostRecv", "HostSend",
                           "RecvTensor 1@a/b", "MatMul", "Receive", "SendRecv"})
    events += TimelineOp(1, name, 100, 5);
  const Trace t =
      ReadDialect(R"({"traceEvents":[)" + NamedProcess(1, "/job:localhost/replica:0/task:0/cpu:0 Compute") +
                  events + R"({"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":1}}]})");
  std::set<std::string_view> names;
  for (const NameId name : t.ranges.name) names.insert(t.names.View(name));
  EXPECT_EQ(names, (std::set<std::string_view>{"MatMul", "Receive", "SendRecv"}));
}

TEST(TensorFlowTimeline, WithoutTracksOfGpusIsOfTheHost) {
  const auto listed = [](const std::string& device) {
    const Trace trace = ReadDialect(
        R"({"traceEvents":[)" + NamedProcess(1, "/job:localhost/replica:0/task:0/" + device + " Compute") +
        R"({"name":"MatMul","args":{"name":"dense/MatMul","op":"MatMul"},"pid":1,"tid":0,"ts":10,"dur":5,"cat":"Op","ph":"X"}]})");
    EXPECT_EQ(trace.ranges.size(), 1u);
    const auto found = trace.facts.find("listed_gpus");
    return found == trace.facts.end() ? "" : found->second;
  };
  EXPECT_EQ(listed("cpu:0"), "0");
  EXPECT_EQ(listed("gpu:0"), "") << "it has one, whose kernels were not recorded";
}

TEST(TensorFlowTimeline, ListsThemTogetherWhereItHasNoStreams) {
  const Trace t =
      ReadDialect(R"({"traceEvents":[)" + NamedProcess(1, "/job:localhost/replica:0/task:0/gpu:0 Compute") +
                  NamedProcess(5, "/gpu:0/stream:all Compute") + NamedProcess(7, "/gpu:0/memcpy Compute") +
                  TimelineOp(1, "MatMul", 120, 9) + TimelineOp(5, "MatMul", 140, 40) +
                  TimelineOp(7, "MEMCPYDtoH", 190, 8) +
                  R"({"ph":"M","name":"process_sort_index","pid":5,"args":{"sort_index":1}}]})");
  EXPECT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.copies.size(), 1u);
}

TEST(TensorFlowTimeline, KnowsOfEachGpuWhetherItHasStreams) {
  const Trace t =
      ReadDialect(R"({"traceEvents":[)" + NamedProcess(5, "/device:GPU:0/stream:all Compute") +
                  NamedProcess(7, "/device:GPU:0/stream:13 Compute") +
                  NamedProcess(9, "/device:GPU:1/stream:all Compute") + TimelineOp(5, "MatMul", 140, 40) +
                  TimelineOp(7, "MatMul", 140, 40) + TimelineOp(9, "Conv2D", 140, 40) +
                  R"({"ph":"M","name":"process_sort_index","pid":5,"args":{"sort_index":1}}]})");
  EXPECT_EQ(t.kernels.size(), 2u);
  EXPECT_EQ(t.devices.size(), 2u);
}

TEST(TensorFlowTimeline, ReadsEscapesOfNamesOnce) {
  const Trace t =
      ReadDialect(R"({"traceEvents":[)" + NamedProcess(1, "/job:localhost/replica:0/task:0/cpu:0 Compute") +
                  TimelineOp(1, R"(a\\nb)", 120, 9) +
                  R"({"ph":"M","name":"process_sort_index","pid":5,"args":{"sort_index":1}}]})");
  ASSERT_EQ(t.ranges.size(), 1u);
  EXPECT_EQ(t.names.View(t.ranges.name[0]), R"(a\nb)");
}

// What it has of the GPU is the time of operators once more, enclosing one another: no kernels, but totals.
TEST(LegacyAutogradProfiler, SumsUpOperators) {
  const auto call = [](std::string_view name, std::string_view pid, int start, int length) {
    return fmt::format(
        R"({{"name": "{}", "ph": "X", "ts": {}, "dur": {}, "tid": 0, "pid": "{}", "args": {{}}}})", name,
        start, length, pid);
  };
  const Trace t = ReadDialect("[" + call("aten::conv2d", "CPU functions", 6, 9) + ", " +
                              call("aten::conv2d", "CUDA functions", 7, 40) + ", " +
                              call("aten::cudnn_convolution", "CPU functions", 7, 5) + ", " +
                              call("aten::cudnn_convolution", "CUDA functions", 8, 39) + "]");
  EXPECT_EQ(t.format, "kineto");
  EXPECT_EQ(t.kernels.size(), 0u);
  EXPECT_EQ(t.ranges.size(), 2u);
  ASSERT_EQ(t.summary_tables.size(), 1u);
  const SummaryTable& table = t.summary_tables[0];
  EXPECT_TRUE(table.has_device);
  EXPECT_EQ(table.host_ns, 9000);
  EXPECT_EQ(table.device_ns, 40000);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].name, "aten::conv2d");
  EXPECT_EQ(table.rows[0].self_ns, 4000);
  EXPECT_EQ(table.rows[0].device_self_ns, 1000);
  EXPECT_EQ(table.rows[1].device_ns, 39000);
  EXPECT_EQ(table.rows[1].device_self_ns, 39000);
}

}  // namespace
}  // namespace dladvisor
