// SPDX-License-Identifier: Apache-2.0
// Traces that XLA's profiler writes for JAX and TensorFlow.
#include "src/importers/xla/xla.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/importers/xla/details.h"
#include "src/importers/xla/process_name.h"
#include "src/trace/check_trace.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Named(const char* what, int pid, int tid, const std::string& name) {
  return fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":"{}"}}}},)", pid, tid, what,
                     name);
}

std::string Event(int pid, int tid, double start, double duration, const std::string& name,
                  const std::string& args = "") {
  return fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":"{}","args":{{{}}}}},)",
                     pid, tid, start, duration, name, args);
}

Trace ReadEvents(const std::string& events) {
  const test::ScratchDir dir;
  test::WriteFile(
      dir.path() / "vm.trace.json",
      R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[)" + events + "{}]}");
  Trace trace = ReadProfile(dir.path() / "vm.trace.json");
  CheckTrace(trace);
  return trace;
}

const std::string kNames =
    Named("process_name", 1, 0, "/device:GPU:0") +
    Named("thread_name", 1, 14, "Stream #14(MemcpyD2D,Compute)") +
    Named("thread_name", 1, 15, "Stream #15(MemcpyH2D)") + Named("thread_name", 1, 30, "XLA Modules") +
    Named("thread_name", 1, 31, "XLA Ops") + Named("thread_name", 1, 32, "Steps") +
    Named("process_name", 701, 0, "/host:CPU") + Named("thread_name", 701, 7, "python3") +
    Named("thread_name", 701, 8, "pjrt_async_work_runner/4711");

template <class Column>
std::vector<std::string> NamesOf(const Trace& trace, const Column& column) {
  std::vector<std::string> names;
  for (size_t i = 0; i < column.size(); ++i) names.emplace_back(trace.names.View(column[i]));
  return names;
}

TEST(Xla, WaitsEndSoonAfterTheWorkOfTheGpu) {
  const Trace trace = ReadEvents(kNames + Event(701, 7, 5, 2, "f", R"("correlation_id":"7")") +
                                 Event(1, 14, 10, 20, "f", R"("correlation_id":"7","hlo_module":"jit_f")") +
                                 Event(701, 7, 8, 25, "BlockHostUntilReady") +
                                 Event(701, 7, 40, 5000, "np.asarray(jax.Array)"));
  ASSERT_EQ(trace.api_calls.size(), 3);
  EXPECT_EQ(trace.api_calls.end[1] - trace.api_calls.start[1], 25'000);
  EXPECT_EQ(trace.api_calls.end[2] - trace.api_calls.start[2], 50'000);
}

// Calls of one operator of TensorFlow's are one range, but for what lies between them.
TEST(Xla, NamesOperatorsByTheAnnotationsOfKernels) {
  const auto launch = [](double at, int correlation, const char* annotation) {
    return Event(701, 7, at, 2, "f", fmt::format(R"("correlation_id":"{}")", correlation)) +
           Event(1, 14, at + 5, 2, "f",
                 fmt::format(R"("correlation_id":"{}","annotation":"{}")", correlation, annotation));
  };
  const Trace trace = ReadEvents(
      kNames + Event(701, 7, 0, 100, "ExecutorState::Process") + launch(10, 1, "net/conv/Conv2D:Conv2D") +
      launch(20, 2, "net/conv/Conv2D:Conv2D") + launch(30, 3, "net/Relu:Relu") + Event(701, 7, 40, 1, "x") +
      launch(50, 4, "net/Relu:Relu") + launch(60, 5, "hlo_op=fusion.1"));
  EXPECT_THAT(NamesOf(trace, trace.ranges.name),
              ElementsAre("ExecutorState::Process", "net/conv/Conv2D", "net/Relu", "x", "net/Relu"));
  EXPECT_EQ(trace.ranges.start[1], 10'000);
  EXPECT_EQ(trace.ranges.end[1], 22'000);
}

TEST(Xla, RefusesSeveralHostsAndNamesBehindTheirEvents) {
  const std::string work = Event(1, 14, 10, 2, "f") + Event(701, 7, 5, 2, "f");
  EXPECT_THROW(ReadEvents(work + kNames), Error);
  EXPECT_THROW(
      ReadEvents(kNames + Named("process_name", 702, 0, "/host:CPU") + work + Event(702, 7, 5, 2, "f")),
      Error);
  EXPECT_THROW(
      ReadEvents(kNames + Named("process_name", 2, 0, "/job:w/replica:0/task:1/device:GPU:0") +
                 Named("thread_name", 2, 14, "Stream #14(Compute)") + work + Event(2, 14, 10, 2, "f")),
      Error);
}

TEST(Xla, SaysOfATpuWhatTakesItsTime) {
  const std::string names =
      Named("process_name", 3, 0, "/device:TPU:0") + Named("process_name", 4, 0, "/device:TPU:1") +
      Named("thread_name", 3, 2, "XLA Modules") + Named("thread_name", 3, 3, "XLA Ops") +
      Named("thread_name", 4, 3, "XLA Ops") + Named("process_name", 701, 0, "/host:CPU");
  const auto refusal = [&](const std::string& events) -> std::string {
    try {
      ReadEvents(names + events);
    } catch (const WrongKind& e) {
      return e.what();
    }
    return "read";
  };
  const auto op = [](int pid, double start, double duration, const char* name, const char* category) {
    return Event(pid, 3, start, duration, name, fmt::format(R"("hlo_category":"{}")", category));
  };
  const std::string busy =
      Event(3, 2, 0, 1000, "jit_step") + op(3, 0, 600, "fusion.2", "convolution fusion") +
      op(3, 600, 200, "RPA-bq_32-.19", "custom-call") + op(3, 800, 150, "RPA-bq_32-.25", "custom-call") +
      op(3, 950, 50, "copy.1", "data formatting") + op(4, 0, 1000, "fusion.2", "loop fusion");
  EXPECT_THAT(
      refusal(busy),
      HasSubstr("a trace of a TPU by XLA's profiler, which dladvisor does not read: the ops of TPU 0 take "
                "1 of the 1 ms from its first to its last, 60 % of it convolution fusion, 35 % "
                "custom-call (RPA-bq_32), 5 % data formatting"));
  EXPECT_THAT(refusal(busy),
              HasSubstr("xprof LOGDIR), beginning with the custom call RPA-bq_32: its sizes of blocks"));
  EXPECT_THAT(refusal(op(3, 0, 100, "fusion.2", "loop fusion") + op(3, 900, 100, "fusion.2", "loop fusion")),
              HasSubstr("beginning with what the host does between the steps"));
  EXPECT_THAT(refusal(""), HasSubstr("which dladvisor does not read\n"));
}

TEST(Xla, AnEventNamedAsItsProcessesMakesNoTraceOfXla) {
  EXPECT_NE(ReadEvents(Event(1, 1, 1, 5, "/host:CPU")).format, "xla");
}

TEST(Xla, GpuWorkIsThatOfStreams) {
  const Trace trace = ReadEvents(
      kNames +
      Event(
          1, 14, 20, 5, "loop_add_fusion",
          R"("correlation_id":"7","cuda_graph_node_id":"21474836480","hlo_module":"jit_f",)"
          R"("kernel_details":"regs:29 static_shared:32 dynamic_shared:100 grid:64,2,1 block:128,1,1 occ_pct:100")") +
      Event(1, 30, 20, 5, "jit_f(1)") + Event(1, 31, 20, 5, "loop_add_fusion") + Event(1, 32, 20, 5, "1") +
      Event(
          1, 15, 10, 2, "MemcpyH2D",
          R"("correlation_id":"6","memcpy_details":"kind_src:pinned kind_dst:device size:4096 dest:0 async:1")") +
      Event(1, 14, 30, 1, "Memset", R"("correlation_id":"8","memset_details":"kind:device num_bytes:64")"));
  EXPECT_EQ(trace.format, "xla");
  EXPECT_EQ(trace.facts.at("framework"), "JAX");
  const Kernels& k = trace.kernels;
  ASSERT_EQ(k.size(), 1u);
  EXPECT_EQ(k.start[0], 10'000);
  EXPECT_EQ(k.end[0], 15'000);
  EXPECT_EQ(k.stream[0], 14);
  EXPECT_EQ(k.correlation[0], 7);
  EXPECT_EQ(k.graph_node[0], 21474836480);
  EXPECT_EQ(k.grid[0], 128);
  EXPECT_EQ(k.block[0], 128);
  EXPECT_EQ(k.registers[0], 29);
  EXPECT_EQ(k.shared_bytes[0], 132);
  const Copies& c = trace.copies;
  ASSERT_EQ(c.size(), 1u);
  EXPECT_EQ(c.bytes[0], 4096);
  EXPECT_EQ(c.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(c.source[0], MemoryKind::kPinned);
  EXPECT_EQ(c.destination[0], MemoryKind::kDevice);
  ASSERT_EQ(trace.sets.size(), 1u);
  EXPECT_EQ(trace.sets.bytes[0], 64);
  EXPECT_EQ(trace.devices.size(), 1u);
}

TEST(Xla, HostEventsAreCallsFramesAndRanges) {
  const Trace trace = ReadEvents(
      kNames + Event(701, 7, 1, 99, "$train.py:26 main") +
      Event(701, 7, 2, 50, "train", R"("step_num":"5")") + Event(701, 7, 3, 20, "PjitFunction(update)") +
      Event(701, 7, 4, 1, "$builtins len") +
      Event(701, 7, 5, 2, "cuGraphLaunch (CudaGraph:51)", R"("correlation_id":"9")") +
      Event(701, 7, 8, 2, "loop_add_fusion", R"("correlation_id":"10")") +
      Event(701, 8, 8, 2, "MemcpyD2H",
            R"("correlation_id":"11","memcpy_details":"kind_src:unknown size:4 async:1")") +
      Event(701, 7, 30, 9, "$array.py:293 __float__") + Event(701, 7, 31, 7, "$core.py:12 _value") +
      Event(701, 7, 32, 5, "np.asarray(jax.Array)") + Event(701, 7, 33, 2, "BlockHostUntilReady") +
      Event(701, 7, 60, 9, "$core.py:7 mine") + Event(701, 7, 80, 1, "BUFFER_FLUSH") +
      Event(1, 14, 9, 1, "loop_add_fusion", R"("correlation_id":"9")"));
  EXPECT_THAT(NamesOf(trace, trace.api_calls.name),
              ElementsAre("cuGraphLaunch", "cuLaunchKernel", "cuMemcpyDtoHAsync", "np.asarray(jax.Array)"));
  EXPECT_EQ(trace.api_calls.correlation[0], 9);
  EXPECT_THAT(NamesOf(trace, trace.ranges.name), ElementsAre("train step 5", "PjitFunction(update)"));
  // JAX's own functions are known below those that programs call.
  EXPECT_THAT(NamesOf(trace, trace.frames.name),
              ElementsAre("train.py(26): main", "<built-in> len", "jax/array.py(293): __float__",
                          "jax/core.py(12): _value", "core.py(7): mine"));
  EXPECT_THAT(NamesOf(trace, trace.overheads.name), ElementsAre("BUFFER_FLUSH"));
  ASSERT_EQ(trace.threads.size(), 2u);
  EXPECT_FALSE(trace.threads[0].is_worker);
  EXPECT_TRUE(trace.threads[1].is_worker);
  EXPECT_EQ(trace.threads[1].name, "pjrt_async_work_runner");
  EXPECT_EQ(trace.facts.at("framework"), "JAX");
}

TEST(Xla, AProgramOnTheCpuCallsNoGpu) {
  const Trace trace =
      ReadEvents(Named("process_name", 701, 0, "/host:CPU") + Event(701, 7, 1, 20, "PjitFunction(update)") +
                 Event(701, 7, 30, 9, "$api.py:293 block_until_ready"));
  EXPECT_EQ(trace.api_calls.size(), 0u);
  EXPECT_EQ(trace.ranges.size(), 1u);
}

TEST(Xla, KnowsWhoseRuntimeItIs) {
  const auto framework = [](const std::string& event, const std::string& module = "") {
    const Trace trace = ReadEvents(kNames + Event(701, 7, 1, 2, event) +
                                   Event(1, 14, 9, 1, "fusion", fmt::format(R"("hlo_module":"{}")", module)));
    const auto fact = trace.facts.find("framework");
    return fact == trace.facts.end() ? "" : fact->second;
  };
  EXPECT_EQ(framework("FunctionRun"), "TensorFlow");
  EXPECT_EQ(framework("ExecutorState::Process", "jit_f"), "JAX");
  EXPECT_EQ(framework("x", "SyncTensorsGraph.7"), "PyTorch/XLA");
  EXPECT_EQ(framework("x"), "");
}

TEST(Xla, WhatItWritesIsCutAtAMillionEvents) {
  std::string events = kNames;
  for (int i = 0; i < 1'000'000; ++i) events += R"({"ph":"X","pid":1,"tid":31,"ts":1,"dur":1,"name":"a"},)";
  EXPECT_FALSE(ReadEvents(kNames + Event(1, 14, 1, 1, "k")).health.truncated);
  EXPECT_TRUE(ReadEvents(events + Event(1, 14, 1, 1, "k")).health.truncated);
}

TEST(Xla, NamesOfProcessesAndThreads) {
  using Kind = xla::ProcessKind::Kind;
  EXPECT_EQ(xla::ProcessKindOf("/host:CPU")->kind, Kind::kHost);
  EXPECT_EQ(xla::ProcessKindOf("/device:GPU:3 (pid 4)")->ordinal, 3);
  EXPECT_EQ(xla::ProcessKindOf("/job:localhost/replica:0/task:0/device:TPU:0")->kind, Kind::kTpu);
  for (const char* name : {"Renderer", "my/host: node1 /device: x", "/device:x", "/srv/host:CPU",
                           "/job:localhost/replica:0/task:0/device:GPU:0 Compute"})
    EXPECT_FALSE(xla::ProcessKindOf(name)) << name;
  EXPECT_EQ(xla::StreamOf("Stream #14(MemcpyD2D,Compute)"), 14);
  EXPECT_EQ(xla::StreamOf("stream #7"), 7);
  for (const char* name : {"XLA Ops", "Steps", "Stream", "TensorFlow Name Scope#0"})
    EXPECT_FALSE(xla::StreamOf(name)) << name;
}

TEST(Xla, DetailsThatAreDamagedAreNone) {
  EXPECT_EQ(xla::KernelDetailsOf("regs:-4 grid:x,,9999999999999 block:").registers, 0);
  EXPECT_EQ(xla::CopyDetailsOf("size:-1 kind_src:? async:0").bytes, 0);
  EXPECT_FALSE(xla::CopyDetailsOf("async:0").is_async);
}

}  // namespace
}  // namespace dladvisor
