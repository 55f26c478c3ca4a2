// SPDX-License-Identifier: Apache-2.0
// The same run as writers of different years put it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using test::ScratchDir;
using test::WriteFile;
using testing::ElementsAre;

Trace ReadEvents(const std::string& events) {
  const ScratchDir dir;
  WriteFile(dir.path() / "trace.json", R"({"traceEvents": [)" + events + "]}");
  return ReadProfile(dir.path() / "trace.json");
}

// A copy with its call, once as `name` says and once as arguments do.
struct CopyWords {
  const char* name;
  const char* arguments;
};

std::string CopyWithCall(int correlation, const std::string& category, const std::string& name,
                         const std::string& arguments) {
  const int64_t start = 100 + correlation * 100;
  return fmt::format(
      R"({{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":10,"tid":11,"ts":{0},"dur":5,"args":{{"cbid":41,)"
      R"("correlation":{1}}}}},{{"ph":"s","id":{1},"pid":10,"tid":11,"ts":{0},"cat":"ac2g","name":"ac2g"}},)"
      R"({{"ph":"X","cat":"{2}","name":"{3}","pid":0,"tid":7,"ts":{4},"dur":9,"args":{{"device":0,"context":1,"stream":7,)"
      R"("correlation":{1},"bytes":4096{5}}}}},{{"ph":"f","id":{1},"pid":0,"tid":7,"ts":{4},"cat":"ac2g","name":"ac2g","bp":"e"}})",
      start, correlation, category, name, start + 20, arguments);
}

std::string GraphKernel(int start, const std::string& node, const std::string& stream) {
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{},"dur":4,"args":{{"device":0,"context":1,)"
      R"("correlation":90,"grid":[8,1,1],"block":[128,1,1],"registers per thread":32,"shared memory":64,{},{}}}}})",
      start, node, stream);
}

constexpr char kGraphLaunch[] =
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":10,"tid":11,"ts":5000,"dur":5,)"
    R"("args":{"cbid":311,"correlation":90}},)"
    R"({"ph":"s","id":90,"pid":10,"tid":11,"ts":5000,"cat":"ac2g","name":"ac2g"})";

template <class Column>
std::vector<int64_t> Values(const Column& column) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < column.size(); ++i) values.push_back(static_cast<int64_t>(column[i]));
  return values;
}

// All columns but those that do not hold whole numbers: of bandwidths and counters.
void ExpectSameEvents(const Trace& a, const Trace& b) {
  Trace::ForEachTable([&](auto table) {
    using Table = std::remove_cvref_t<decltype(a.*table)>;
    SCOPED_TRACE(Table::kTable.name);
    Table::ForEachColumn([&](auto column, const EventColumn& about) {
      SCOPED_TRACE(about.name);
      EXPECT_EQ(Values((a.*table).*column), Values((b.*table).*column));
    });
  });
}

TEST(KinetoVersions, CopiesAreTheSameByNameAndByArguments) {
  const std::vector<CopyWords> copies = {
      {"Memcpy HtoD (Pageable -> Device)", R"("copy kind":"HtoD","src kind":"pageable","dst kind":"device")"},
      {"Memcpy DtoH (Device -> Pinned)", R"("copy kind":"DtoH","src kind":"device","dst kind":"pinned")"},
      {"Memcpy DtoD (Device -> Device Static)",
       R"("copy kind":"DtoD","src kind":"device","dst kind":"device_static")"},
      {"Memcpy PtoP (Device -> Device)", R"("copy kind":"PtoP","src kind":"device","dst kind":"device")"},
      {"Memcpy HtoH (Pinned -> Pageable)", R"("copy kind":9,"src kind":"pinned","dst kind":"pageable")"},
      {"Memcpy HtoA (Managed -> Array)", R"("copy kind":"HtoA","src kind":"managed","dst kind":"array")"},
      {"Memcpy DtoD (Unknown -> Device)", R"("copy kind":"DtoD","src kind":"unknown","dst kind":"device")"},
  };
  std::string by_name, by_arguments;
  for (size_t i = 0; i < copies.size(); ++i) {
    const int correlation = static_cast<int>(i) + 1;
    by_name += CopyWithCall(correlation, "gpu_memcpy", copies[i].name, "") + ",";
    by_arguments +=
        CopyWithCall(correlation, "gpu_memcpy", "Memcpy", fmt::format(",{}", copies[i].arguments)) + ",";
  }
  by_name += CopyWithCall(20, "gpu_memset", "Memset (Device)", "") + ",";
  by_arguments += CopyWithCall(20, "gpu_memset", "Memset", R"(,"value":0,"memory kind":3)") + ",";

  // Nodes of graphs: ids in one number or in halves, and lanes of the display in place of CUDA streams.
  by_name += fmt::format("{},{},{}", kGraphLaunch,
                         GraphKernel(5010, R"("graph node id":12884901888)", R"("stream":7)"),
                         GraphKernel(5020, R"("graph node id":12884901893)", R"("stream":8)"));
  by_arguments += fmt::format(
      "{},{},{},{}", kGraphLaunch, GraphKernel(5010, R"("graph id":3)", R"("stream":7)"),
      GraphKernel(5020, R"("graph id":3,"graph node id":5)", R"("stream":1000,"original_stream":8)"),
      R"({"ph":"s","id":1099511627777,"pid":0,"tid":7,"ts":5014,"cat":"ac2g","name":"ac2g"},)"
      R"({"ph":"f","id":1099511627777,"pid":0,"tid":7,"ts":5020,"cat":"ac2g","name":"ac2g","bp":"e"})");

  const Trace old = ReadEvents(by_name), now = ReadEvents(by_arguments);
  ExpectSameEvents(old, now);
  const Copies& c = now.copies;
  ASSERT_EQ(c.size(), copies.size());
  EXPECT_EQ(c.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(c.source[0], MemoryKind::kPageable);
  EXPECT_EQ(c.destination[0], MemoryKind::kDevice);
  EXPECT_EQ(c.destination[1], MemoryKind::kPinned);
  EXPECT_EQ(c.destination[2], MemoryKind::kDevice);
  EXPECT_EQ(c.direction[3], CopyDirection::kPeerToPeer);
  EXPECT_EQ(c.direction[4], CopyDirection::kHostToHost);
  EXPECT_EQ(c.direction[5], CopyDirection::kHostToDevice);
  EXPECT_EQ(c.source[6], MemoryKind::kUnknown);
  EXPECT_THAT(now.sets.memory, ElementsAre(MemoryKind::kDevice));
  EXPECT_THAT(Values(now.kernels.graph_node), ElementsAre(12884901888, 12884901893));
  EXPECT_THAT(Values(now.kernels.stream), ElementsAre(7, 8));
}

std::string Counter(const char* name, const char* pid, const char* time, const char* arguments) {
  return fmt::format(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{{}}}}})", name, pid, time,
                     arguments);
}

TEST(KinetoVersions, CountersOfTheGpuAreSamplesOfMetrics) {
  const char* const counters = "\"GPU 1 Counters\"";
  const Trace trace = ReadEvents(fmt::format(
      "{},{},{},{},{}",
      R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":10,"dur":4,"args":{"device":1,"stream":7,"correlation":1}})",
      Counter("SM Active (%)", counters, "12.5", "\"\":81.25"),
      Counter("Power (W)", counters, "11", "\"\":310"), Counter("Queue Length", "1", "11", "\"stream 7\":3"),
      Counter("Power (W)", counters, "13", "\"\":null")));
  const GpuMetrics& g = trace.gpu_metrics;
  EXPECT_THAT(g.time, ElementsAre(1000, 2500));  // after the kernel's start
  EXPECT_THAT(g.value, ElementsAre(310, 81.25));
  EXPECT_EQ(trace.names.View(g.metric[0]), "Power (W)");
  EXPECT_EQ(trace.names.View(g.metric[1]), "SM Active (%)");
  ASSERT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(trace.devices[g.device[0]].ordinal, 1);
  EXPECT_EQ(g.device[0], trace.kernels.device[0]);
}

TEST(KinetoVersions, EventRecordsOfGraphsAreEvents) {
  const Trace trace = ReadEvents(
      std::string(kGraphLaunch) +
      R"(,{"ph":"X","cat":"graph_event_node","name":"EventRecord","pid":0,"tid":7,"ts":5012,"dur":0,"args":{"device":0,)"
      R"("context":1,"stream":7,"correlation":90,"graph id":3,"graph node id":6,"cuda event":"0x7f10"}})");
  EXPECT_EQ(trace.kernels.size(), 0u);
  ASSERT_EQ(trace.cuda_events.size(), 1u);
  EXPECT_EQ(trace.cuda_events.time[0], 12000);
  EXPECT_EQ(trace.cuda_events.event[0], 0x7f10);
  EXPECT_EQ(trace.cuda_events.correlation[0], 90);
  EXPECT_EQ(trace.processes[trace.cuda_events.process[0]].pid, 10);
  EXPECT_TRUE(trace.health.rows_skipped.empty());
}

std::string Call(const char* name, int start, const std::string& arguments) {
  return fmt::format(
      R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":10,"tid":11,"ts":{},"dur":2,"args":{{{}}}}})",
      name, start, arguments);
}

std::string Work(const char* category, int start, const std::string& arguments) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"w{}","pid":2,"tid":0,"ts":{},"dur":4,"args":{{{}}}}})",
                     category, start, start, arguments);
}

std::string FlowEnd(char phase, int64_t id, int pid, int tid, int time) {
  return fmt::format(R"({{"ph":"{}","id":{},"pid":{},"tid":{},"ts":{},"cat":"ac2g","name":"ac2g"}})", phase,
                     id, pid, tid, time);
}

// The start of the call that launched each kernel, -1 for none.
std::vector<Ns> CallsOf(const Trace& trace, const GpuOperations& ops) {
  std::vector<Ns> starts;
  for (size_t i = 0; i < ops.size(); ++i) {
    Ns start = -1;
    for (size_t c = 0; c < trace.api_calls.size(); ++c)
      if (ops.correlation[i] != kNoCorrelation && trace.api_calls.correlation[c] == ops.correlation[i])
        start = trace.api_calls.start[c];
    starts.push_back(start);
  }
  return starts;
}

TEST(KinetoVersions, WorkWithoutCorrelationIsJoinedByFlows) {
  // The flow outranks the operator: the second kernel's is that of the third call.
  const Trace trace = ReadEvents(
      fmt::format("{},{},{},{},{},{},{},{},{},{},{}", Call("hipLaunchKernel", 100, R"("External id":4)"),
                  FlowEnd('s', 31, 10, 11, 100), Call("hipLaunchKernel", 110, R"("External id":4)"),
                  FlowEnd('s', 32, 10, 11, 110), Call("hipLaunchKernel", 120, R"("External id":4)"),
                  FlowEnd('s', 33, 10, 11, 120), Work("kernel", 200, R"("External id":4,"device":2)"),
                  FlowEnd('f', 31, 2, 0, 200), Work("kernel", 210, R"("External id":4,"device":2)"),
                  FlowEnd('f', 33, 2, 0, 210),
                  // Between nodes of a graph: no launch.
                  FlowEnd('s', (int64_t{1} << 40) + 1, 10, 11, 110) + "," +
                      FlowEnd('f', (int64_t{1} << 40) + 1, 2, 0, 200)));
  EXPECT_THAT(CallsOf(trace, trace.kernels), ElementsAre(0, 20000));
}

TEST(KinetoVersions, WorkWithoutCorrelationAndFlowsIsJoinedByItsOperator) {
  const Trace trace = ReadEvents(fmt::format(
      "{},{},{},{},{},{},{},{},{}", Call("hipGetDevice", 90, R"("External id":4)"),
      Call("hipLaunchKernel", 100, R"("External id":4)"), Call("hipMemcpyAsync", 105, R"("External id":4)"),
      Call("hipLaunchKernel", 110, R"("External id":4)"), Call("hipGraphLaunch", 120, R"("External id":5)"),
      Work("kernel", 210, R"("External id":4,"device":2)") + "," +
          Work("kernel", 200, R"("External id":4,"device":2)"),
      Work("kernel", 220, R"("External id":5,"device":2)") + "," +
          Work("kernel", 230, R"("External id":5,"device":2)"),
      Work("gpu_memcpy", 240, R"("External id":4,"device":2)"),
      Work("kernel", 250, R"("External id":6,"device":2)")));
  EXPECT_THAT(CallsOf(trace, trace.kernels), ElementsAre(10000, 20000, 30000, 30000, -1));
  EXPECT_THAT(CallsOf(trace, trace.copies), ElementsAre(15000));
}

// A kernel launched before the profiler began has no call; roctracer then writes its correlation id for the
// operator's as well.
TEST(KinetoVersions, ACorrelationWithoutCallIsNotReplacedByTheOperator) {
  const Trace trace =
      ReadEvents(fmt::format("{},{},{}", Call("hipLaunchKernel", 100, R"("External id":4,"correlation":22)"),
                             Work("kernel", 200, R"("External id":4,"correlation":4,"device":2)"),
                             Work("kernel", 210, R"("External id":4,"correlation":22,"device":2)")));
  EXPECT_THAT(CallsOf(trace, trace.kernels), ElementsAre(-1, 0));
}

TEST(KinetoVersions, WhatOnlyTheCallRecordsIsOfItsWork) {
  const Trace trace = ReadEvents(fmt::format(
      "{},{},{},{},{},{},{},{}",
      Call("hipLaunchKernel", 100, R"("correlation":1,"grid":[6,2,1],"block":[64,4,1],"shared memory":24)"),
      Call("hipExtModuleLaunchKernel", 110,
           R"("correlation":2,"grid":[1000,3,1],"block":[256,1,1],"shared memory":0)"),
      Call("hipExtModuleLaunchKernel", 120,
           R"("correlation":3,"grid":[512,1,1],"block":[256,1,1],"shared memory":0)"),
      Call("hipMemcpyWithStream", 130, R"("correlation":4,"size":"2560","kind":"1")"),
      Work("kernel", 200, R"("device":2,"correlation":1)"),
      Work("kernel", 210, R"("device":2,"correlation":2)"),
      Work("kernel", 220, R"("device":2,"correlation":3,"grid":[512,1,1],"block":[256,1,1])"),
      Work("gpu_memcpy", 230, R"("device":2,"correlation":4,"kind":"HtoD")")));
  const Kernels& k = trace.kernels;
  EXPECT_THAT(Values(k.grid), ElementsAre(12, 12, 2));  // that of the second and third call is in threads
  EXPECT_THAT(Values(k.block), ElementsAre(256, 256, 256));
  EXPECT_THAT(Values(k.shared_bytes), ElementsAre(24, 0, 0));
  EXPECT_EQ(k.shapes[static_cast<size_t>(k.shape[1])].grid, (std::array<int64_t, 3>{4, 3, 1}));
  EXPECT_THAT(trace.copies.bytes, ElementsAre(2560));
}

TEST(KinetoVersions, WorkIsOfTheProcessThatMadeItsCall) {
  const std::string other =
      R"({"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":20,"tid":21,"ts":105,"dur":2,"args":{"correlation":9}})";
  const Trace trace =
      ReadEvents(fmt::format("{},{},{},{},{},{}", Call("hipLaunchKernel", 100, R"("correlation":1)"),
                             Call("hipLaunchKernel", 110, R"("correlation":2)"), other,
                             Work("kernel", 200, R"("device":2,"correlation":1)"),
                             Work("kernel", 210, R"("device":3,"correlation":9)"),
                             Work("kernel", 220, R"("device":2,"correlation":77)")));
  std::vector<int64_t> pids;
  for (size_t i = 0; i < trace.kernels.size(); ++i)
    pids.push_back(trace.processes[trace.kernels.process[i]].pid);
  EXPECT_THAT(pids, ElementsAre(10, 20, 10));
}

TEST(KinetoVersions, AbsurdNumbersAreBroughtIntoBounds) {
  const char* const most = "9223372036854775807";
  const Trace trace = ReadEvents(fmt::format(
      "{},{},{},{},{}",
      Call("hipLaunchKernel", 100, fmt::format(R"("External id":4,"correlation":{})", most)),
      Call("hipLaunchKernel", 110, R"("External id":5)"),
      Work("kernel", 200, R"("External id":5,"device":2)"),
      Work(
          "kernel", 210,
          fmt::format(
              R"("device":2,"registers per thread":{0},"shared memory":{0},"graph id":{0},"graph node id":{0},)"
              R"("grid":[{0},-{0},1],"block":[{0},{0},{0}])",
              most)),
      Work("gpu_memcpy", 220, fmt::format(R"("device":2,"bytes":{})", most)) + "," +
          Work("gpu_memset", 230, fmt::format(R"("device":2,"bytes":-{})", most))));
  EXPECT_THAT(CallsOf(trace, trace.kernels), ElementsAre(10000, -1));
  EXPECT_THAT(Values(trace.kernels.shared_bytes), ElementsAre(0, 2147483647));
  EXPECT_THAT(Values(trace.kernels.registers), ElementsAre(0, 2147483647));
  EXPECT_THAT(trace.copies.bytes, ElementsAre(int64_t{1} << 50));
  EXPECT_THAT(trace.sets.bytes, ElementsAre(0));
}

TEST(KinetoVersions, ATraceThatIsCutInItsFirstEventSaysSo) {
  const test::ScratchDir dir;
  test::WriteFile(dir.path() / "trace.json",
                  R"({"schemaVersion": 1, "traceEvents": [ {"ph": "X", "cat": "kernel", "name": "k", "pi)");
  try {
    ReadProfile(dir.path() / "trace.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("ends before its first event does"));
  }
}

}  // namespace
}  // namespace dladvisor
