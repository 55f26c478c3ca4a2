// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler, written here with every variation that versions and writers of them show.
#include "src/importers/kineto/kineto.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>

#include <limits>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/importers/kineto/event_text.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

namespace fs = std::filesystem;
using test::ScratchDir;
using test::WriteFile;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Gzip(const std::string& text) {
  std::vector<uint8_t> packed(text.size() + 1024);
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uint32_t>(text.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uint32_t>(packed.size());
  EXPECT_EQ(isal_deflate_stateless(&stream), COMP_OK);
  return {reinterpret_cast<char*>(packed.data()), stream.total_out};
}

Trace ReadText(const std::string& text) {
  const ScratchDir dir;
  WriteFile(dir.path() / "trace.json", text);
  return ReadProfile(dir.path() / "trace.json");
}

std::string Op(const std::string& name, int64_t start, int64_t duration) {
  return fmt::format(
      R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":10,"tid":11,"ts":{},"dur":{},"args":{{"External id":1}}}})",
      name, start, duration);
}

constexpr char kLaunch[] =
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":1000.5,"dur":7,)"
    R"("args":{"External id":3,"cbid":211,"correlation":5}})";
constexpr char kKernel[] =
    R"({"ph":"X","cat":"kernel","name":"void at::native::reduce_kernel<512, 1>","pid":0,"tid":7,)"
    R"("ts":1010.123,"dur":20.5,"args":{"External id":3,"queued":0,"device":0,"context":1,"stream":7,)"
    R"("correlation":5,"registers per thread":32,"shared memory":16,"blocks per SM":1.5,"warps per SM":6,)"
    R"("grid":[10,2,1],"block":[128,2,1],"est. achieved occupancy %":33}})";

TEST(Kineto, ReadsKernelsWithTheirLaunches) {
  const Trace trace = ReadText(fmt::format(
      R"({{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "A100", "totalGlobalMem": 85, "computeMajor": 8,
          "computeMinor": 0, "numSms": 108}}, {{"id": 1, "name": "A100", "numSms": 108}}],
          "cuda_runtime_version": 12040, "with_stack": 1, "distributedInfo": {{"backend": "nccl", "rank": 3, "world_size": 8}},
          "traceEvents": [{}, {}], "baseTimeNanoseconds": 1700000000000000000, "traceName": "x"}})",
      kKernel, kLaunch));
  EXPECT_EQ(trace.format, "kineto");
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.world_size, 8);
  EXPECT_EQ(trace.facts.at("cuda_version"), "12.4");
  EXPECT_EQ(trace.facts.at("framework"), "PyTorch");
  EXPECT_EQ(trace.capture_options.at("with_stack"), "yes");
  EXPECT_EQ(trace.clock_origin_utc_ns, 1700000000000000000 + 1000500);
  ASSERT_EQ(trace.kernels.size(), 1u);
  const Kernels& k = trace.kernels;
  EXPECT_EQ(k.start[0], 9623);  // after the first event
  EXPECT_EQ(k.end[0], 9623 + 20500);
  EXPECT_EQ(trace.names.View(k.name[0]), "void at::native::reduce_kernel<512, 1>");
  EXPECT_EQ(trace.names.View(k.short_name[0]), "reduce_kernel");
  EXPECT_EQ(k.grid[0], 20);
  EXPECT_EQ(k.block[0], 256);
  EXPECT_EQ(k.registers[0], 32);
  EXPECT_EQ(k.shared_bytes[0], 16);
  EXPECT_EQ(k.stream[0], 7);
  EXPECT_FLOAT_EQ(k.blocks_per_sm[0], 1.5F);
  EXPECT_FLOAT_EQ(k.occupancy[0], 33);
  ASSERT_EQ(trace.api_calls.size(), 1u);
  EXPECT_EQ(trace.api_calls.start[0], 0);
  EXPECT_EQ(trace.api_calls.correlation[0], k.correlation[0]);
  EXPECT_EQ(trace.processes[k.process[0]].pid, 10);
  ASSERT_EQ(trace.devices.size(), 2u);
  EXPECT_EQ(trace.devices[k.device[0]].sm_count, 108);
  EXPECT_EQ(trace.devices[1].ordinal, 1);
}

TEST(Kineto, ReadsMembersInAnyOrder) {
  const Trace trace = ReadText(
      R"([{"args":{"stream":7,"device":2,"correlation":5,"grid":[1,1,1],"block":[32,1,1]},"cat":"Kernel","dur":3,)"
      R"("name":"k","ph":"X","pid":2,"tid":"stream 7","ts":5},)"
      R"({"args":{"External id":1,"Input dims":[[2,3]],"Input type":["float"]},"cat":"Operator","dur":4,"name":"aten::mm",)"
      R"("ph":"X","pid":10,"tid":"4093687616","ts":1}])");
  ASSERT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(trace.devices[trace.kernels.device[0]].ordinal, 2);
  EXPECT_EQ(trace.kernels.stream[0], 7);
  ASSERT_EQ(trace.ranges.size(), 1u);
  EXPECT_EQ(trace.threads[trace.ranges.thread[0]].tid, 4093687616);
  const OperatorArguments& arguments =
      trace.operator_arguments[static_cast<size_t>(trace.ranges.arguments[0])];
  EXPECT_EQ(trace.names.View(arguments.shapes), "[[2,3]]");
  EXPECT_EQ(trace.names.View(arguments.types), R"(["float"])");
}

TEST(Kineto, ReadsOperatorsModulesAndFrames) {
  const Trace trace = ReadText(
      R"([{"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":10,"tid":12,"ts":20,"dur":5,"args":{"External id":9,)"
      R"("Sequence number":77,"Fwd thread id":1}},)"
      R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":10,"tid":11,"ts":1,"dur":100,"args":{}},)"
      R"({"ph":"X","cat":"python_function","name":"nn.Module: Linear_0","pid":10,"tid":11,"ts":2,"dur":9,"args":{"Python id":2}},)"
      R"({"ph":"X","cat":"python_function","name":"train.py(12): step","pid":10,"tid":11,"ts":1,"dur":50,"args":{"Python id":1}},)"
      R"({"ph":"X","cat":"python_function","name":"threading.py(1): boot","pid":0,"tid":0,"ts":1,"dur":60,"args":{"Python id":0}},)"
      R"j({"ph":"M","name":"thread_name","pid":10,"tid":12,"ts":0,"args":{"name":"thread 12 (pt_autograd_0)"}},)j"
      R"({"ph":"M","name":"process_name","pid":10,"tid":0,"ts":0,"args":{"name":"python3"}}])");
  ASSERT_EQ(trace.ranges.size(), 3u);
  const Ranges& r = trace.ranges;
  EXPECT_EQ(trace.names.View(r.domain[0]), "user_annotation");
  EXPECT_EQ(trace.names.View(r.domain[1]), "nn.Module");
  EXPECT_EQ(trace.names.View(r.domain[2]), "cpu_op");
  EXPECT_EQ(r.sequence[2], 77);
  EXPECT_EQ(r.forward_thread[2], 1);
  EXPECT_EQ(r.sequence[0], -1);
  EXPECT_EQ(trace.threads[r.thread[2]].name, "pt_autograd_0");
  EXPECT_EQ(trace.processes[trace.threads[r.thread[0]].process].name, "python3");
  ASSERT_EQ(trace.frames.size(), 2u);  // the longer first
  EXPECT_EQ(trace.names.View(trace.frames.name[0]), "threading.py(1): boot");
  EXPECT_EQ(trace.frames.thread[0], trace.frames.thread[1]);  // a frame without a thread is of the main one
}

// Of Intel's GPUs: M is memory of the host that SYCL did not allocate, H such that it did.
TEST(Kineto, ReadsTheCopiesOfIntelsGpus) {
  const auto copies = [](const char* name) {
    return ReadText(
               fmt::format(
                   R"([{{"ph":"X","cat":"gpu_memcpy","name":"{}","pid":0,"tid":7,"ts":1,"dur":2,"args":{{"device":0,)"
                   R"("stream":7,"correlation":4,"bytes":100}}}}])",
                   name))
        .copies;
  };
  const Copies to_device = copies("Memcpy M2D (MEMORY(Unknown) -> DEVICE)");
  EXPECT_THAT(to_device.direction, ElementsAre(CopyDirection::kHostToDevice));
  EXPECT_THAT(to_device.source, ElementsAre(MemoryKind::kPageable));
  EXPECT_THAT(to_device.destination, ElementsAre(MemoryKind::kDevice));
  const Copies to_host = copies("Memcpy D2H (DEVICE -> HOST)");
  EXPECT_THAT(to_host.direction, ElementsAre(CopyDirection::kDeviceToHost));
  EXPECT_THAT(to_host.destination, ElementsAre(MemoryKind::kPinned));
  EXPECT_THAT(copies("Memcpy D2M (DEVICE -> MEMORY(Unknown))").direction,
              ElementsAre(CopyDirection::kDeviceToHost));
  EXPECT_THAT(copies("Memcpy D2D (DEVICE -> DEVICE)").direction, ElementsAre(CopyDirection::kDeviceToDevice));
  EXPECT_THAT(copies("Memcpy D2S (DEVICE -> SHARED)").direction, ElementsAre(CopyDirection::kUnknown));
}

TEST(Kineto, ReadsCopiesSetsAndSyncs) {
  const auto gpu = [](const char* category, const char* name, const char* more) {
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":7,"ts":1,"dur":2,"args":{{"device":0,)"
        R"("stream":7,"correlation":4{}}}}})",
        category, name, more);
  };
  const Trace trace = ReadText(
      "[" +
      gpu("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)",
          R"-(,"bytes":100,"memory bandwidth (GB/s)":4.5)-") +
      "," + gpu("Memcpy", "Memcpy DtoH (Device -> Pinned)", R"(,"bytes":5)") + "," +
      gpu("gpu_memcpy", "Memcpy DtoD (Device -> Device)", "") + "," +
      gpu("gpu_memset", "Memset (Device)", R"-(,"bytes":8,"memory bandwidth (GB/s)":"1.5")-") + "," +
      gpu("cuda_sync", "Stream Sync", R"(,"cuda_sync_kind":"Stream Sync")") + "," +
      gpu("cuda_sync", "x",
          R"(,"cuda_sync_kind":"Stream Wait Event","wait_on_cuda_event_record_corr_id":12)") +
      "," + gpu("gpu_user_annotation", "forward", "") + "," + gpu("mtia_ccp_events", "event_wait", "") + "," +
      gpu("cuda_profiler_range", "kernel", R"(,"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum":7)") +
      "]");
  EXPECT_THAT(trace.copies.direction, ElementsAre(CopyDirection::kHostToDevice, CopyDirection::kDeviceToHost,
                                                  CopyDirection::kDeviceToDevice));
  EXPECT_THAT(trace.copies.source,
              ElementsAre(MemoryKind::kPageable, MemoryKind::kDevice, MemoryKind::kDevice));
  EXPECT_EQ(trace.copies.destination[1], MemoryKind::kPinned);
  EXPECT_EQ(trace.copies.bytes[0], 100);
  EXPECT_THAT(trace.copies.bandwidth, ElementsAre(4.5e9F, -1.0F, -1.0F));
  EXPECT_EQ(trace.sets.bytes[0], 8);
  EXPECT_THAT(trace.sets.bandwidth, ElementsAre(1.5e9F));
  EXPECT_THAT(trace.syncs.kind, ElementsAre(SyncKind::kStream, SyncKind::kStreamWaitEvent));
  EXPECT_EQ(trace.syncs.record_correlation[0], 0);
  EXPECT_EQ(trace.syncs.record_correlation[1], 12);
  EXPECT_EQ(trace.health.rows_skipped.at("mtia_ccp_events"), 1);
  EXPECT_FALSE(trace.health.rows_skipped.contains("gpu_user_annotation"));
  EXPECT_FALSE(trace.health.rows_skipped.contains("cuda_profiler_range"));
  EXPECT_EQ(trace.facts.at("counter_ranges"), "1");
}

// Work of devices that are no GPUs has categories of its own, and so have the calls that give it to them.
TEST(Kineto, ReadsWorkOfOtherDevices) {
  const auto on_stream = [](const char* category, const char* name, int64_t correlation,
                            const char* duration = "20") {
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":7,"ts":100,"dur":{},"args":{{"stream":1,"correlation":{}}}}},)",
        category, name, duration, correlation);
  };
  const auto call = [](const char* category, const char* name, int64_t correlation) {
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":10,"tid":11,"ts":50,"dur":5,"args":{{"correlation":{}}}}},)",
        category, name, correlation);
  };
  const Trace trace = ReadText(
      "[" + call("mtia_runtime", "runFunction - submit", 1) +
      on_stream("mtia_ccp_events", "fc-dtype_Float", 1) + on_stream("mtia_ccp_events", "dma_request", 2) +
      on_stream("mtia_ccp_events", "event_wait", 3) + on_stream("mtia_ccp_events", "mul", 4, "0") +
      on_stream("hpu_counter", "power", 5) + on_stream("hpu_op", "gemm", 6) +
      call("privateuse1_runtime", "launch", 6) + call("xpu_runtime", "urEnqueueKernelLaunch", 7) +
      R"({"ph":"X","cat":"hpu_scheduler","name":"plan","pid":10,"tid":11,"ts":1,"dur":1}])");
  EXPECT_EQ(trace.kernels.size(), 2U);
  EXPECT_EQ(trace.copies.size(), 1U);
  EXPECT_EQ(trace.api_calls.size(), 3U);
  EXPECT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.health.rows_skipped.at("mtia_ccp_events"), 2);
  EXPECT_EQ(trace.health.rows_skipped.at("hpu_scheduler"), 1);
}

TEST(Kineto, KeepsWhatAscendsProfilerSums) {
  const std::string events =
      Op("aten::mm", 1, 2) +
      R"x(,{"ph":"X","name":"Computing","pid":9,"tid":0,"ts":1,"dur":2},)x"
      R"x({"ph":"X","name":"Computing","pid":9,"tid":0,"ts":5,"dur":1},)x"
      R"x({"ph":"X","name":"Free","pid":9,"tid":3,"ts":3,"dur":2},)x"
      R"x({"ph":"X","name":"Communication(Not Overlapped)","pid":9,"tid":2,"ts":6,"dur":4},)x"
      R"x({"ph":"X","name":"AscendCL@aclopCompileAndExecute","pid":8,"tid":7,"ts":1,"dur":600})x";
  const Trace trace = ReadText(
      "[" + events + R"x(,{"ph":"M","name":"process_name","pid":9,"args":{"name":"Ascend Hardware"}}])x");
  EXPECT_EQ(trace.facts.at("npu_computing_ns"), "3000");
  EXPECT_EQ(trace.facts.at("npu_communicating_ns"), "4000");
  EXPECT_EQ(trace.facts.at("npu_free_ns"), "2000");
  EXPECT_EQ(trace.facts.at("npu_compiling_ns"), "600000");
  EXPECT_EQ(trace.facts.at("npu_compiled"), "1");
  EXPECT_FALSE(ReadText("[" + events + "]").facts.contains("npu_computing_ns")) << "of something else";
  EXPECT_FALSE(ReadText("[" + events + "," + events +
                        R"x(,{"ph":"M","name":"process_name","pid":9,"args":{"name":"Ascend Hardware"}}])x")
                   .facts.contains("npu_computing_ns"))
      << "of two NPUs";
}

TEST(Kineto, EventsOfUnknownKindsAreWhole) {
  const Trace trace =
      ReadText("[" + Op("aten::mm", 1, 2) +
               R"(,{"ph":"M","name":"process_name","pid":9,"args":{"name":"Ascend Hardware"}},)"
               R"({"ph":"X","name":"MatMulV2","pid":9,"tid":2,"ts":1,"dur":2},)"
               R"({"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":2,"ts":1,"dur":-2}])");
  EXPECT_EQ(trace.facts.at("accelerator"), "Ascend Hardware");
  EXPECT_THAT(trace.health.rows_unknown, ElementsAre(testing::Pair("", 1)));
  EXPECT_THAT(trace.health.rows_skipped, ElementsAre(testing::Pair("", 1), testing::Pair("cpu_op", 1)));
}

// What the driver does is no time of the profiler: it loads code lazily without one, too.
TEST(Kineto, OnlyTheProfilersOwnOverhead) {
  const auto overhead = [](const std::string& name, int64_t start) {
    return fmt::format(
        R"({{"ph":"X","cat":"overhead","name":"{}","pid":-1,"tid":0,"ts":{},"dur":5,"args":{{}}}})", name,
        start);
  };
  const Trace trace =
      ReadText("{\"traceEvents\":[" + overhead("Activity Buffer Request", 10) + "," +
               overhead("Runtime Triggered Module Loading", 20) + "," +
               overhead("Lazy Function Loading", 30) + "," + overhead("Driver Compiler", 40) + "," +
               overhead("Command Buffer Full", 50) + "," + overhead("Unrecognized", 55) + "," +
               overhead("Buffer Flush", 60) + "," + kLaunch + "," + kKernel + "]}");
  ASSERT_EQ(trace.overheads.size(), 2u);
  EXPECT_EQ(trace.names.View(trace.overheads.name[0]), "Activity Buffer Request");
  EXPECT_EQ(trace.names.View(trace.overheads.name[1]), "Buffer Flush");
}

TEST(Kineto, TakesTheHashOfACollectiveWhereItHasNoSequence) {
  const auto number = [](const char* more) {
    const Trace trace = ReadText(fmt::format(
        R"([{{"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":20,"ts":1,"dur":2,"args":{{"device":0,"stream":20{}}}}}])",
        more));
    return trace.kernels.collective_number[0];
  };
  EXPECT_EQ(number(R"(,"Comms Id":"12345678")"), 12345678);
  EXPECT_EQ(number(R"(,"Comms Id":18446744073709551615)"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(number(R"(,"Comms Id":7,"Seq":0)"), 1);
  EXPECT_EQ(number(R"(,"Comms Id":"x","Seq":-1)"), 0);
  EXPECT_EQ(number(""), 0);
}

TEST(Kineto, ReadsCollectivesAndTheAllocator) {
  const Trace trace = ReadText(
      R"([{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL","pid":0,"tid":20,"ts":1,"dur":2,)"
      R"("args":{"device":0,"stream":20,"correlation":4,"Collective name":"allreduce","In msg nelems":100,)"
      R"("Out msg nelems":100,"Group size":2,"Seq":41,"dtype":"Float","Process Group Name":"0","Process Group Ranks":"[0, 1]"}},)"
      R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":10,"tid":11,"ts":3,"args":{"Total Reserved":)"
      R"(40,"Total Allocated":30,"Bytes":-10,"Addr":7,"Device Id":0,"Device Type":1}},)"
      R"({"ph":"i","name":"[memory]","pid":10,"tid":12,"ts":4,"args":{"Bytes":5,"Device Id":-1,"Device Type":0}}])");
  const Collective& c = trace.collectives[static_cast<size_t>(trace.kernels.collective[0])];
  EXPECT_EQ(trace.names.View(c.name), "allreduce");
  EXPECT_EQ(trace.names.View(c.dtype), "Float");
  EXPECT_EQ(trace.names.View(c.group_ranks), "[0, 1]");
  EXPECT_EQ(c.group_size, 2);
  EXPECT_EQ(c.in_elements, 100);
  EXPECT_EQ(trace.kernels.collective_number[0], 42);
  const MemoryEvents& m = trace.memory_events;
  ASSERT_EQ(m.size(), 2u);
  EXPECT_EQ(m.bytes[0], -10);
  EXPECT_EQ(m.allocated[0], 30);
  EXPECT_EQ(m.reserved[0], 40);
  EXPECT_EQ(m.device[1], kNoIndex);
  EXPECT_EQ(m.allocated[1], -1);
  ASSERT_EQ(m.thread.size(), 2u);
  EXPECT_EQ(trace.threads[m.thread[0]].tid, 11);
  EXPECT_EQ(trace.threads[m.thread[1]].tid, 12);
}

// As versions before 2.2 have it: the kernel says nothing, the annotation around its launch lists tensors.
TEST(Kineto, ReadsWhatOlderCollectivesCarryFromTheirAnnotation) {
  std::string text = "[";
  const auto add = [&](const char* title, int64_t at, int64_t number, const char* dims, const char* types) {
    text += fmt::format(
        R"x({}{{"ph":"X","cat":"user_annotation","name":"nccl:{}","pid":10,"tid":11,"ts":{},"dur":60,)x"
        R"x("args":{{"Input Dims":{},"Input type":{}}}}},)x"
        R"x({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":{},"dur":7,)x"
        R"x("args":{{"correlation":{}}}}},)x"
        R"x({{"ph":"X","cat":"kernel","name":"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",)x"
        R"x("pid":0,"tid":20,"ts":{},"dur":9,"args":{{"device":0,"stream":20,"correlation":{}}}}})x",
        text.size() == 1 ? "" : ",", title, at, dims, types, at + 20, number, at + 50, number);
  };
  add("all_to_all", 100, 1, "[[64, 96]]", R"(["float"])");
  add("all_reduce", 200, 2, "[[10], [2, 3]]", R"(["c10::Half", "c10::Half"])");
  add("all_reduce", 300, 3, "[[10], [2, 3]]", R"(["c10::Half", "float"])");
  add("_all_gather_base", 400, 4, "[[10]]", R"(["float"])");
  text +=
      R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":480,"dur":7,)"
      R"("args":{"correlation":5}},{"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce","pid":0,"tid":20,)"
      R"("ts":500,"dur":9,"args":{"device":0,"stream":20,"correlation":5}}])";
  const Trace trace = ReadText(text);
  ASSERT_EQ(trace.kernels.size(), 5u);
  const auto of = [&](size_t kernel) {
    return trace.collectives.at(static_cast<size_t>(trace.kernels.collective[kernel]));
  };
  EXPECT_EQ(trace.names.View(of(0).name), "all_to_all");
  EXPECT_EQ(trace.names.View(of(0).dtype), "float");
  EXPECT_EQ(of(0).in_elements, 64 * 96);
  EXPECT_EQ(of(1).in_elements, 16);
  EXPECT_EQ(of(2).in_elements, -1) << "two types";
  EXPECT_EQ(trace.names.View(of(3).name), "_all_gather_base");
  EXPECT_EQ(trace.names.View(of(3).dtype), "float");
  EXPECT_EQ(of(3).in_elements, -1) << "gets more than it gives";
  EXPECT_EQ(trace.kernels.collective[4], 0) << "its launch is in no annotation";
}

// Names that look like the border between events, and lists of objects among the arguments.
std::string TrickyTrace(size_t events, const std::string& footer) {
  std::string text = R"({"traceEvents": [)";
  for (size_t i = 0; i < events; ++i) {
    if (i > 0) text += ",\n ";
    text += fmt::format(
        R"({{"ph":"X","cat":"cpu_op","name":"op {} }},{{","pid":10,"tid":11,"ts":{},"dur":1,"args":{{"x":[{{"a":1}}, {{"a":2}}],)"
        R"("Call stack":"f \" }}, {{\"ph\": \"X\"}}, {{"}}}})",
        i % 100, i * 2);
  }
  return text + "]" + footer + "}";
}

TEST(Kineto, TheListOfDevicesIsKnown) {
  const auto listed = [](const std::string& frame) {
    const Trace trace = ReadText("{" + frame + R"("traceEvents": [)" + Op("aten::mm", 0, 1) + "]}");
    const auto fact = trace.facts.find("listed_gpus");
    return fact == trace.facts.end() ? std::string() : fact->second;
  };
  EXPECT_EQ(listed(R"("deviceProperties": [], )"), "0");
  EXPECT_EQ(listed(R"("deviceProperties": [{"id": 0, "name": "A100"}], )"), "1");
  EXPECT_EQ(listed(""), "");
}

TEST(Kineto, ReadsWhatAMultiprocessorHolds) {
  const auto device = [](const std::string& properties) {
    return ReadText(
               fmt::format(R"({{"deviceProperties": [{{"id": 0, "name": "GPU", {}}}], "traceEvents": [{}]}})",
                           properties, kKernel))
        .devices.at(0);
  };
  const Device nvidia = device(
      R"("maxThreadsPerMultiprocessor": 1536, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 102400)");
  EXPECT_EQ(nvidia.threads_per_sm, 1536);
  EXPECT_EQ(nvidia.registers_per_sm, 65536);
  EXPECT_EQ(nvidia.shared_bytes_per_sm, 102400);
  EXPECT_FALSE(nvidia.amd);
  EXPECT_TRUE(
      device(R"("maxThreadsPerMultiprocessor": 2048, "maxSharedMemoryPerMultiProcessor": 65536)").amd);
}

TEST(Kineto, FindsTheBordersOfEventsInLargeTraces) {
  constexpr size_t kEvents = 60'000;  // 9 MB
  std::string footer = R"(, "deviceProperties": [)";
  for (int i = 0; i < 100'000; ++i)
    footer += fmt::format(R"({}{{"id": {}, "name": "GPU"}})", i ? ", " : "", i);
  footer += R"(], "distributedInfo": {"rank": 6})";
  for (const std::string& after : {std::string(), footer}) {
    const Trace trace = ReadText(TrickyTrace(kEvents, after));
    ASSERT_EQ(trace.ranges.size(), kEvents);
    for (size_t i = 0; i < kEvents; ++i) ASSERT_EQ(trace.ranges.start[i], static_cast<Ns>(i * 2000));
    EXPECT_EQ(trace.names.View(trace.ranges.name[17]), "op 17 },{");
    EXPECT_EQ(trace.rank.has_value(), !after.empty());
    EXPECT_TRUE(trace.health.notes.empty());
  }
}

TEST(Kineto, ExactAndGuessedCutsGiveTheSameEvents) {
  ScratchDir dir;
  std::string text = R"({"a": {"traceEvents": [1, 2]}, "traceEvents" : [)";
  for (int i = 0; i < 40'000; ++i) text += (i ? "," : "") + Op(fmt::format("op{}", i % 7), i, 1);
  WriteFile(dir.path() / "t.json", text + "\n], \"traceName\": \"x\"}");
  const auto read = [&](kineto::EventText::Cut cut) {
    ByteSource source(dir.path() / "t.json");
    kineto::EventText events(source, cut);
    kineto::Chunk chunk;
    std::string all;
    while (events.Next(chunk)) {
      const std::string_view array = chunk.Array();
      all += std::string(array.substr(1, array.size() - 2)) + ",";
    }
    EXPECT_FALSE(events.IsTruncated());
    EXPECT_EQ(events.Frame(), R"({"a": {"traceEvents": [1, 2]},"traceName": "x"})");
    return all;
  };
  EXPECT_EQ(read(kineto::EventText::Cut::kExact), read(kineto::EventText::Cut::kGuessed));
}

TEST(Kineto, ReadsWhatATruncatedTraceHolds) {
  const std::string whole =
      "{\"traceEvents\": [" + Op("a", 1, 2) + ", " + Op("b", 4, 2) + ", " + Op("c", 8, 2) + "]}";
  ScratchDir dir;
  const fs::path file = dir.path() / "t.json";
  size_t events = 0;
  for (size_t size = 20; size <= whole.size(); ++size) {
    WriteFile(file, whole.substr(0, size));
    try {
      const Trace trace = ReadProfile(file);
      EXPECT_GE(trace.ranges.size(), events);
      events = trace.ranges.size();
      const bool ended = size >= whole.size() - 1;
      EXPECT_EQ(trace.health.notes.empty(), ended) << size;
      if (!ended) {
        EXPECT_THAT(trace.health.notes[0], HasSubstr("ends early"));
      }
    } catch (const Error& e) {
      EXPECT_EQ(events, 0u) << size;
      EXPECT_THAT(e.reason(), HasSubstr("ends before its first event does")) << size;
    }
  }
  EXPECT_EQ(events, 3u);
}

TEST(Kineto, ReadsGzipOfSeveralMembersAndCutOnes) {
  std::string text = "[";
  for (int i = 0; i < 30'000; ++i) text += (i ? "," : "") + Op("op", i, 1);
  text += "]";
  ScratchDir dir;
  const fs::path file = dir.path() / "t.gz";
  const std::string members = Gzip(text.substr(0, 70'000)) + Gzip(text.substr(70'000));
  WriteFile(file, members);
  EXPECT_EQ(ReadProfile(file).ranges.size(), 30'000u);
  WriteFile(file, Gzip(text) + std::string(512, '\0'));
  EXPECT_EQ(ReadProfile(file).ranges.size(), 30'000u);

  const std::string packed = Gzip(text);
  WriteFile(file, packed.substr(0, packed.size() / 2));
  const Trace cut = ReadProfile(file);
  EXPECT_GT(cut.ranges.size(), 5'000u);
  EXPECT_LT(cut.ranges.size(), 30'000u);
  ASSERT_FALSE(cut.health.notes.empty());
  EXPECT_THAT(cut.health.notes[0], HasSubstr("its gzip data end early"));
}

TEST(Kineto, EveryDamagedByteIsAnswered) {
  const std::string whole =
      "{\"traceEvents\": [" + std::string(kKernel) + ", " + kLaunch + ", " + Op("a", 1, 2) + "]}";
  ScratchDir dir;
  const fs::path file = dir.path() / "t.json";
  uint32_t state = 1;
  for (int i = 0; i < 400; ++i) {
    std::string damaged = whole;
    for (int j = 0; j < 3; ++j) {
      state = state * 1664525 + 1013904223;
      damaged[state % damaged.size()] = "\"\\{}[],:x\xff"[(state >> 24) % 10];
    }
    WriteFile(file, damaged);
    try {
      ReadProfile(file);
    } catch (const Error&) {
      // Refused or read: either is an answer.
    }
  }
}

TEST(Kineto, ReadsNamesThatAreNoUtf8) {
  const Trace trace = ReadText("[" + Op("caf\xE9", 1, 2) + "," + Op("na\xC3\xAFve", 4, 2) + "]");
  EXPECT_EQ(trace.names.View(trace.ranges.name[0]), "caf?");
  EXPECT_EQ(trace.names.View(trace.ranges.name[1]), "na\xC3\xAFve");
}

TEST(Kineto, DevicesOfAmdAreNumberedByAgents) {
  const auto text = [](const char* second) {
    return fmt::format(
        R"({{"deviceProperties": [{{"id": 0, "name": "MI300X", "numSms": 304}}, {{"id": 1, "name": "{}", "numSms": 304}}],
            "hip_runtime_version": 70253211, "traceEvents": [{{"ph":"X","cat":"kernel","name":"k","pid":9,"tid":3,)"
        R"("ts":1,"dur":2,"args":{{"device":9,"stream":3,"correlation":1}}}}]}})",
        second);
  };
  const Trace alike = ReadText(text("MI300X"));
  EXPECT_EQ(alike.devices[alike.kernels.device[0]].name, "MI300X");
  EXPECT_EQ(alike.devices[alike.kernels.device[0]].ordinal, 9);
  EXPECT_EQ(alike.facts.at("cuda_version"), "HIP 7.2");
  const Trace mixed = ReadText(text("MI250"));
  EXPECT_EQ(mixed.devices[mixed.kernels.device[0]].name, "");
}

TEST(Kineto, EveryRealTraceIsReadOrRefused) {
  std::vector<fs::path> files;
  for (const char* extension : {".gz", ".json"})
    for (const fs::path& file : test::DataFiles("kineto", extension)) files.push_back(file);
  if (files.empty()) GTEST_SKIP() << "no kineto traces in " << test::DataDir();
  size_t read = 0;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    try {
      const Trace trace = ReadProfile(file);
      ++read;
      EXPECT_TRUE(std::is_sorted(trace.ranges.start.begin(), trace.ranges.start.end()));
      for (const std::string& note : trace.health.notes)
        EXPECT_THAT(note, testing::Not(HasSubstr("ends early")));
    } catch (const Error& e) {
      EXPECT_FALSE(e.hint().empty());
    }
  }
  // An execution trace, a memory timeline, a trace of unitrace and a tar archive are none.
  EXPECT_GE(read + 4, files.size());
}

}  // namespace
}  // namespace dladvisor
