// SPDX-License-Identifier: Apache-2.0
// JSON of rocprofv3 written here, one trap each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::HasSubstr;

// `records` are members of "buffer_records".
std::string JsonOf(const std::string& records) {
  return R"({"rocprofiler-sdk-tool":[{"metadata":{"node":{"hostname":"node1","system_name":"Linux","release":"6"},)"
         R"("pid":908,"command":["python","train.py"]},)"
         R"("agents":[{"id":{"handle":70},"type":1,"logical_node_type_id":0,"name":"AMD EPYC"},)"
         R"({"id":{"handle":71},"type":2,"logical_node_type_id":0,"name":"gfx950","product_name":"AMD Instinct MI350X",)"
         R"("cu_count":256,"max_engine_clk_fcompute":2200,"mem_banks":[{"size_in_bytes":309220868096}]},)"
         R"({"id":{"handle":72},"type":2,"logical_node_type_id":1,"name":"gfx950","product_name":""}],"counters":[],)"
         R"("strings":{"callback_records":[{"kind":"NONE","operations":[]}],"buffer_records":[)"
         R"({"kind":"NONE","operations":[]},{"kind":"HIP_RUNTIME_API","operations":["hipMalloc","hipLaunchKernel"]},)"
         R"({"kind":"MEMORY_COPY","operations":["MEMORY_COPY_NONE","MEMORY_COPY_HOST_TO_DEVICE"]},)"
         R"({"kind":"MARKER_CORE_API","operations":["roctxMarkA","roctxRangePushA"]},)"
         R"({"kind":"HSA_CORE_API","operations":["hsa_signal_store_screlease"]},)"
         R"({"kind":"MEMORY_ALLOCATION","operations":["MEMORY_ALLOCATION_ALLOCATE","MEMORY_ALLOCATION_FREE"]}],)"
         R"("marker_api":[{"key":5,"value":"step 5"}],"counters":{"dimension_ids":[]}},)"
         R"("code_objects":[{"size":1}],"kernel_symbols":[{"kernel_id":0,"formatted_kernel_name":"0"},)"
         R"({"kernel_id":8,"kernel_name":"scale.kd","formatted_kernel_name":"scale<float>","arch_vgpr_count":12}],)"
         R"("host_functions":[],"summary":[],"callback_records":{"counter_collection":[{"a":[{"b":1}]}]},)"
         R"("buffer_records":{)" +
         records + "}}]}";
}

std::string Kernel(int number, int gpu) {
  return R"({"size":184,"kind":11,"operation":2,"thread_id":909,"correlation_id":{"internal":)" +
         std::to_string(number) +
         R"(,"external":0},"start_timestamp":1020,"end_timestamp":1090,"dispatch_info":{"agent_id":{"handle":)" +
         std::to_string(gpu) +
         R"(},"queue_id":{"handle":16},"kernel_id":8,"group_segment_size":64,"workgroup_size":{"x":64,"y":2,"z":1},)"
         R"("grid_size":{"x":250,"y":6,"z":1}},"stream_id":{"handle":3}})";
}

class RocprofJson : public testing::Test {
 protected:
  Trace Read(const std::string& json) {
    const auto file = dir_.path() / (std::to_string(++files_) + "_results.json");
    test::WriteFile(file, json);
    Trace trace = ReadProfile(file);
    EXPECT_THAT(CheckTrace(trace), testing::IsEmpty());
    return trace;
  }
  test::ScratchDir dir_;
  int files_ = 0;
};

TEST_F(RocprofJson, KernelIsOfTheCallThatLaunchesIt) {
  const Trace t = Read(JsonOf(
      R"("kernel_dispatch":[)" + Kernel(3, 72) +
      R"(],"hip_api":[{"kind":1,"operation":1,"thread_id":909,"correlation_id":{"internal":3},)"
      R"("start_timestamp":1000,"end_timestamp":1010}],)"
      R"("memory_copy":[{"kind":2,"operation":1,"thread_id":909,"correlation_id":{"internal":9},)"
      R"("start_timestamp":1100,"end_timestamp":1200,"src_agent_id":{"handle":70},"dst_agent_id":{"handle":71},)"
      R"("bytes":4096}],)"
      R"("marker_api":[{"kind":3,"operation":1,"thread_id":909,"correlation_id":{"internal":5},)"
      R"("start_timestamp":990,"end_timestamp":1300},{"kind":3,"operation":1,"thread_id":909,)"
      R"("correlation_id":{"internal":6},"start_timestamp":990,"end_timestamp":1300}])"));
  EXPECT_EQ(t.format, "rocprofv3");
  EXPECT_EQ(t.facts.at("host"), "node1");
  EXPECT_EQ(t.command, (std::vector<std::string>{"python", "train.py"}));
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "scale<float>");
  EXPECT_EQ(t.kernels.grid[0], 4 * 3);
  EXPECT_EQ(t.kernels.block[0], 128);
  EXPECT_EQ(t.kernels.stream[0], 3);
  EXPECT_EQ(t.kernels.shared_bytes[0], 64);
  EXPECT_EQ(t.devices.at(t.kernels.device[0]).ordinal, 1);
  EXPECT_EQ(t.devices.at(t.kernels.device[0]).name, "AMD gfx950");
  ASSERT_EQ(t.api_calls.size(), 1u);
  EXPECT_EQ(t.names.View(t.api_calls.name[0]), "hipLaunchKernel");
  EXPECT_EQ(t.kernels.correlation[0], t.api_calls.correlation[0]);
  EXPECT_EQ(t.processes.at(t.kernels.process[0]).pid, 908);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.bytes[0], 4096);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  const Device& device = t.devices.at(t.copies.device[0]);
  EXPECT_EQ(device.name, "AMD Instinct MI350X");
  EXPECT_EQ(device.memory_bytes, 309220868096);
  ASSERT_EQ(t.ranges.size(), 1u);  // the other has no text
  EXPECT_EQ(t.names.View(t.ranges.name[0]), "step 5");
}

TEST_F(RocprofJson, FollowsCallsWithinCalls) {
  const Trace t = Read(JsonOf(
      R"("kernel_dispatch":[)" + Kernel(4, 71) +
      R"(],"hip_api":[{"kind":1,"operation":1,"thread_id":909,"correlation_id":{"internal":3,"ancestor":0},)"
      R"("start_timestamp":1000,"end_timestamp":1010}],)"
      R"("hsa_api":[{"kind":4,"operation":0,"thread_id":909,"correlation_id":{"internal":4,"ancestor":3},)"
      R"("start_timestamp":1001,"end_timestamp":1002}])"));
  ASSERT_EQ(t.api_calls.size(), 1u);
  EXPECT_EQ(t.kernels.correlation[0], 3);
}

TEST_F(RocprofJson, FreedMemoryHasTheSizeOfItsAllocation) {
  const Trace t = Read(JsonOf(
      R"("memory_allocation":[{"kind":5,"operation":0,"agent_id":{"handle":71},"start_timestamp":1,"end_timestamp":2,)"
      R"("address":{"handle":77},"allocation_size":100},{"kind":5,"operation":1,"agent_id":{"handle":0},)"
      R"("start_timestamp":5,"end_timestamp":6,"address":{"handle":77},"allocation_size":0}])"));
  ASSERT_EQ(t.memory_events.size(), 2u);
  EXPECT_EQ(t.memory_events.bytes[1], -100);
}

TEST_F(RocprofJson, HostileElements) {
  const Trace t = Read(JsonOf(
      R"("kernel_dispatch":[5,null,[],"x",{},{"start_timestamp":1,"end_timestamp":0},{"start_timestamp":1.5},)"
      R"({"start_timestamp":18446744073709551615,"end_timestamp":1},)" +
      Kernel(0, 70) + "," + Kernel(0, 71) +
      R"(],"hip_api":[{"kind":99,"operation":1,"start_timestamp":1,"end_timestamp":2},{"kind":1,"operation":-1,)"
      R"("correlation_id":7,"thread_id":"x","start_timestamp":1,"end_timestamp":2}],"marker_api":{"a":{"b":[]}})"));
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.correlation[0], kNoCorrelation);
  EXPECT_EQ(t.health.rows_read.at("kernel_dispatch"), 10);
  EXPECT_EQ(t.health.rows_skipped.at("kernel_dispatch"), 9);
}

TEST_F(RocprofJson, RefusesWhatIsCutOrOfSeveral) {
  const auto reason = [&](const std::string& json) {
    try {
      Read(json);
    } catch (const Error& error) {
      return std::string(error.reason());
    }
    return std::string();
  };
  const std::string whole = JsonOf(R"("kernel_dispatch":[)" + Kernel(1, 71) + "]");
  EXPECT_THAT(reason(whole.substr(0, whole.size() - 20)), HasSubstr("is damaged"));
  EXPECT_THAT(reason(R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":1}},{"metadata":{"pid":2}}]})"),
              HasSubstr("several processes"));
  EXPECT_THAT(reason(R"({"rocprofiler-sdk-tool":)" + std::string(5000, '[')), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace dladvisor
