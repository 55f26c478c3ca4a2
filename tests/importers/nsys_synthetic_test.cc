// SPDX-License-Identifier: Apache-2.0
// Small exports written here, one trap each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "src/importers/importers.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

namespace fs = std::filesystem;
using test::MakeDatabase;
using test::ScratchDir;
using testing::ElementsAre;

constexpr char kStrings[] =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'void gemm<float>(float*)'), (2, 'gemm'), (3, "
    "'cudaLaunchKernel_v7000'),"
    " (4, 'step'), (5, 'pthread_cond_wait'), (6, 'main'), (7, 'wait'), (8, 'CUPTI buffer flush');";
constexpr char kKernels[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, "
    "demangledName,"
    " shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,"
    " dynamicSharedMemory, graphNodeId);";
constexpr char kCalls[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId, returnValue);";
constexpr char kRanges[] =
    "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, domainId, globalTid, endGlobalTid);";

class Synthetic : public testing::Test {
 protected:
  Trace Read(const std::string& sql) { return ReadProfile(MakeDatabase(NextPath(), sql)); }
  fs::path NextPath() { return dir_.path() / ("export" + std::to_string(++files_) + ".sqlite"); }

  ScratchDir dir_;
  int files_ = 0;
};

template <class Column>
std::vector<std::string> Names(const Trace& trace, const Column& ids) {
  std::vector<std::string> names;
  for (size_t i = 0; i < ids.size(); ++i) names.emplace_back(trace.names.View(ids[i]));
  return names;
}

std::vector<int64_t> Values(const IntColumn& column) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < column.size(); ++i) values.push_back(column[i]);
  return values;
}

TEST_F(Synthetic, FullKernelRow) {
  const Trace t = Read(std::string(kStrings) + kKernels +
                       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 0, 7, 42, " +
                       test::Pid(900) + ", 1, 2, 128, 4, 3, 2, 32, 8, 1, 1024, 2048, 77)");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.start[0], 100);
  EXPECT_EQ(t.kernels.end[0], 150);
  EXPECT_EQ(t.kernels.stream[0], 7);
  EXPECT_EQ(t.kernels.correlation[0], 42);
  EXPECT_EQ(t.kernels.graph_node[0], 77);
  EXPECT_EQ(t.kernels.grid[0], 24);
  EXPECT_EQ(t.kernels.block[0], 256);
  ASSERT_EQ(t.kernels.shape.size(), 1u);
  EXPECT_EQ(t.kernels.shapes.at(static_cast<size_t>(t.kernels.shape[0])),
            (LaunchShape{{4, 3, 2}, {32, 8, 1}}));
  EXPECT_EQ(t.kernels.registers[0], 128);
  EXPECT_EQ(t.kernels.shared_bytes[0], 3072);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "void gemm<float>(float*)");
  EXPECT_EQ(t.names.View(t.kernels.short_name[0]), "gemm");
  EXPECT_EQ(t.processes.at(0).pid, 900);
  EXPECT_EQ(t.devices.at(0).ordinal, 0);
  EXPECT_EQ(t.devices[0].sm_count, std::nullopt);
  EXPECT_EQ(t.format, "nsys");
  EXPECT_EQ(t.health.rows_read.at("CUPTI_ACTIVITY_KIND_KERNEL"), 1);
  EXPECT_THAT(t.health.missing_tables, testing::Contains("CUPTI_ACTIVITY_KIND_RUNTIME"));
  EXPECT_THAT(t.health.missing_tables, testing::Not(testing::Contains("CUPTI_ACTIVITY_KIND_KERNEL")));
}

TEST_F(Synthetic, MinimalColumns) {
  const Trace t = Read(std::string(kStrings) +
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, END, deviceId, shortName);"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 2);"
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId);"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3, 4, 0);"
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (unrelated);"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3)");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "gemm");
  EXPECT_EQ(t.kernels.correlation[0], kNoCorrelation);
  EXPECT_EQ(t.kernels.graph_node[0], 0);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kUnknown);
  EXPECT_EQ(t.copies.source[0], MemoryKind::kUnknown);
  EXPECT_EQ(t.sets.size(), 0u);
  EXPECT_EQ(t.health.rows_skipped.at("CUPTI_ACTIVITY_KIND_MEMSET"), 1);
}

TEST_F(Synthetic, SortsByStart) {
  const Trace t = Read(std::string(kStrings) + kKernels +
                       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, demangledName) VALUES"
                       " (30, 31, 0, 1), (10, 11, 1, 2), (20, 21, 0, 4), (15, 17, 2, 1)");
  EXPECT_THAT(t.kernels.start, ElementsAre(10, 15, 20, 30));
  EXPECT_THAT(t.kernels.end, ElementsAre(11, 17, 21, 31));
  EXPECT_THAT(Names(t, t.kernels.name),
              ElementsAre("gemm", "void gemm<float>(float*)", "step", "void gemm<float>(float*)"));
  EXPECT_EQ(t.devices.at(t.kernels.device[1]).ordinal, 2);
  EXPECT_EQ(t.health.out_of_order, 0);  // no order is promised
}

TEST_F(Synthetic, CorrelationsStayWithTheirProcess) {
  const Trace t =
      Read(std::string(kStrings) + kKernels + kCalls +
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, correlationId, globalPid) VALUES"
           " (10, 20, 0, 5, " +
           test::Pid(100) + "), (11, 21, 1, 5, " + test::Pid(200) +
           ");"
           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, " +
           test::Tid(200, 201) +
           ", 5, 3, 0),"
           " (3, 4, " +
           test::Tid(100, 101) + ", 5, 3, 0)");
  ASSERT_EQ(t.kernels.size(), 2u);
  ASSERT_EQ(t.api_calls.size(), 2u);
  EXPECT_EQ(t.processes[t.kernels.process[0]].pid, 100);
  EXPECT_EQ(t.processes[t.kernels.process[1]].pid, 200);
  EXPECT_EQ(t.threads[t.api_calls.thread[0]].tid, 201);
  EXPECT_EQ(t.threads[t.api_calls.thread[0]].process, t.kernels.process[1]);
  EXPECT_EQ(t.threads[t.api_calls.thread[1]].process, t.kernels.process[0]);
}

TEST_F(Synthetic, NvtxTextsDomainsAndKinds) {
  const std::string thread = test::Tid(100, 101), other = test::Tid(100, 102);
  const Trace t = Read(std::string(kStrings) + kRanges +
                       "INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, domainId, globalTid,"
                       " endGlobalTid) VALUES"
                       " (10, 20, 59, 'inline', NULL, 0, " +
                       thread +
                       ", NULL),"
                       " (10, 40, 59, NULL, 4, 3, " +
                       thread +
                       ", NULL),"  // longer: the outer one
                       " (15, NULL, 34, 'mark', NULL, 0, " +
                       thread +
                       ", NULL),"
                       " (16, 90, 60, 'across', NULL, 9, " +
                       thread + ", " + other +
                       "),"
                       " (50, NULL, 75, 'NCCL', NULL, 3, " +
                       thread +
                       ", NULL),"  // named after its first use
                       " (51, NULL, 33, 'a category', NULL, 0, " +
                       thread +
                       ", NULL),"
                       " (52, NULL, 76, NULL, NULL, 3, " +
                       thread +
                       ", NULL),"
                       " (-5, 20, 59, 'before', NULL, 0, " +
                       thread + ", NULL)");
  const Ranges& r = t.ranges;
  EXPECT_THAT(Names(t, r.name), ElementsAre("step", "inline", "mark", "across"));
  EXPECT_THAT(Names(t, r.domain), ElementsAre("NCCL", "", "", "domain 9"));
  EXPECT_THAT(r.kind,
              ElementsAre(RangeKind::kPushPop, RangeKind::kPushPop, RangeKind::kMark, RangeKind::kStartEnd));
  EXPECT_THAT(r.end, ElementsAre(40, 20, 15, 90));
  EXPECT_THAT(Values(r.open), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(t.threads[r.thread[3]].tid, 101);
  EXPECT_EQ(t.health.rows_skipped.at("NVTX_EVENTS"), 1);
}

TEST_F(Synthetic, OpenRangesEndWithTheirThread) {
  const std::string busy = test::Tid(1, 2), idle = test::Tid(1, 3);
  const Trace t = Read(std::string(kStrings) + kRanges + kCalls +
                       "CREATE TABLE OSRT_API (start, end, globalTid, nameId);"
                       "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES"
                       " (10, NULL, 59, 'a', " +
                       busy + "), (12, 20, 59, 'b', " + busy +
                       "),"
                       " (30, NULL, 59, 'c', " +
                       idle +
                       ");"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (40, 50, " +
                       busy +
                       ", 1, 3, 0);"
                       "INSERT INTO OSRT_API VALUES (60, 70, " +
                       busy + ", 5)");
  EXPECT_THAT(Names(t, t.ranges.name), ElementsAre("a", "b", "c"));
  EXPECT_THAT(t.ranges.end, ElementsAre(70, 20, 30));
  EXPECT_THAT(Values(t.ranges.open), ElementsAre(1, 0, 1));
}

TEST_F(Synthetic, OsCallsWithChains) {
  const std::string thread = test::Tid(1, 2);
  const Trace t = Read(std::string(kStrings) +
                       "CREATE TABLE OSRT_API (start, end, globalTid, nameId, callchainId);"
                       "CREATE TABLE OSRT_CALLCHAINS (id, symbol, stackDepth);"
                       "CREATE TABLE ThreadNames (nameId, priority, globalTid);"
                       "INSERT INTO OSRT_API VALUES (1, 5, " +
                       thread + ", 5, 11), (6, 7, " + thread +
                       ", 5, NULL),"
                       " (8, NULL, " +
                       thread +
                       ", 5, 11);"
                       "INSERT INTO OSRT_CALLCHAINS VALUES (11, 6, 1), (11, 7, 0), (12, 4, 0);"
                       "INSERT INTO ThreadNames VALUES (6, 10, " +
                       thread + "), (7, 20, " + thread + ")");
  ASSERT_EQ(t.os_calls.size(), 2u);
  EXPECT_EQ(t.os_calls.chain[1], kNoIndex);
  ASSERT_EQ(t.os_calls.chains.size(), 1u);
  EXPECT_THAT(Names(t, t.os_calls.chains[t.os_calls.chain[0]]), ElementsAre("wait", "main"));
  EXPECT_EQ(t.threads.at(0).name, "wait");  // of the higher priority
  EXPECT_EQ(t.health.rows_skipped.at("OSRT_API"), 1);
}

TEST_F(Synthetic, OnlyTheProfilersOwnOverhead) {
  const std::string thread = test::Tid(1, 2);
  const Trace t =
      Read(std::string(kStrings) +
           "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, globalTid, nameId, overheadType);"
           "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (1, 5, " +
           thread +
           ", 8, 3),"
           " (6, 90, " +
           thread + ", 8, 7)");  // 7: lazy loading of functions
  EXPECT_THAT(t.overheads.start, ElementsAre(1));
  EXPECT_THAT(t.overheads.end, ElementsAre(5));
}

TEST_F(Synthetic, CopiesSetsSyncsAndGraphs) {
  const Trace t = Read(
      "CREATE TABLE StringIds (id, value);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, bytes, copyKind, srcKind, dstKind);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 10, 1, 0, 2), (3, 4, 0, 20, 2, 2, 1),"
      " (5, 6, 0, 30, 8, 2, 5), (7, 8, 0, 40, 10, 2, 2), (9, 10, 0, 50, 9, 1, 1), (11, 12, 0, 60, 11, 7, 6),"
      " (13, 14, 0, 70, 3, 0, 3), (15, 16, 0, 80, 99, NULL, -1), (17, 18, 0, -1, 1, 0, 2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, bytes, memKind);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1, 2, 0, 10, 4);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, syncType);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 1), (3, 4, 0, 2), (5, 6, 0, 3), (7, "
      "8, NULL, 4);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, graphId, graphExecId, "
      "correlationId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 9, 0, 3, 4, 12);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId, streamId, correlationId, eventId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 7, 5, 3)");
  using enum CopyDirection;
  EXPECT_THAT(t.copies.direction, ElementsAre(kHostToDevice, kDeviceToHost, kDeviceToDevice, kPeerToPeer,
                                              kHostToHost, kUnifiedHostToDevice, kHostToDevice, kUnknown));
  EXPECT_THAT(t.copies.source, ElementsAre(MemoryKind::kPageable, MemoryKind::kDevice, MemoryKind::kDevice,
                                           MemoryKind::kDevice, MemoryKind::kPinned, MemoryKind::kUnknown,
                                           MemoryKind::kPageable, MemoryKind::kUnknown));
  EXPECT_EQ(t.copies.destination[2], MemoryKind::kDevice);
  EXPECT_EQ(t.copies.destination[5], MemoryKind::kManaged);
  EXPECT_EQ(t.copies.destination[6], MemoryKind::kArray);
  EXPECT_EQ(t.health.rows_skipped.at("CUPTI_ACTIVITY_KIND_MEMCPY"), 1);
  EXPECT_EQ(t.sets.memory.at(0), MemoryKind::kManaged);
  EXPECT_THAT(t.syncs.kind, ElementsAre(SyncKind::kEvent, SyncKind::kStreamWaitEvent, SyncKind::kStream,
                                        SyncKind::kContext));
  EXPECT_EQ(t.syncs.device[3], kNoIndex);
  EXPECT_THAT(t.graph_launches.graph, ElementsAre(4));
  EXPECT_EQ(t.graph_launches.correlation[0], 12);
  EXPECT_THAT(t.cuda_events.time, ElementsAre(-1));
}

TEST_F(Synthetic, MemoryEventsAndMetrics) {
  const Trace t = Read(
      "CREATE TABLE StringIds (id, value);"
      "CREATE TABLE TARGET_INFO_GPU (id, cuDevice, name, smCount);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'B', 10), (1, 0, 'A', 20);"
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, address, bytes, memKind,"
      " memoryOperationType);"
      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (5, 0, 0, 4096, 100, 2, 0), (9, 0, 0, 4096, 100, 2, "
      "1),"
      " (10, 0, 0, 4096, 100, 2, 7);"
      "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId, metricId, metricName);"
      "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (72057594037927936, 1, 'SMs Active [Throughput %]'),"
      " (72057594037927937, 1, 'SMs Active [Throughput %]');"
      "CREATE TABLE GPU_METRICS (timestamp, typeId, metricId, value);"
      "INSERT INTO GPU_METRICS VALUES (20, 72057594037927936, 1, 55), (10, 72057594037927937, 1, 44),"
      " (30, 72057594037927937, 8, 44)");
  EXPECT_THAT(t.memory_events.bytes, ElementsAre(100, -100));
  EXPECT_THAT(t.memory_events.time, ElementsAre(5, 9));
  EXPECT_THAT(t.gpu_metrics.time, ElementsAre(10, 20));
  EXPECT_THAT(t.gpu_metrics.value, ElementsAre(44.0, 55.0));
  EXPECT_EQ(t.devices.at(t.gpu_metrics.device[0]).name, "A");
  EXPECT_EQ(t.devices.at(t.gpu_metrics.device[1]).name, "B");
  EXPECT_EQ(t.devices[0].name, "A");  // by CUDA's number, not the profiler's
  EXPECT_EQ(t.health.rows_skipped.at("GPU_METRICS"), 1);
  EXPECT_EQ(t.health.rows_skipped.at("CUDA_GPU_MEMORY_USAGE_EVENTS"), 1);
}

TEST_F(Synthetic, ReadsWhatAMultiprocessorHolds) {
  const Trace t = Read(
      "CREATE TABLE StringIds (id, value);"
      "CREATE TABLE TARGET_INFO_GPU (id, name, smCount, maxShmemPerSm, maxWarpsPerSm, maxBlocksPerSm,"
      " maxRegistersPerSm, threadsPerWarp);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 'A', 40, 102400, 48, 16, 65536, 32);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid,"
      " demangledName, shortName);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 0, 1, 1)");
  const Device& device = t.devices.at(0);
  EXPECT_EQ(device.shared_bytes_per_sm, 102400);
  EXPECT_EQ(device.threads_per_sm, 1536);
  EXPECT_EQ(device.blocks_per_sm, 16);
  EXPECT_EQ(device.registers_per_sm, 65536);
}

TEST_F(Synthetic, DisplayAdaptersAreNoDevices) {
  const Trace t =
      Read(std::string(kStrings) + kKernels +
           "CREATE TABLE TARGET_INFO_GPU (id, cuDevice, name, smCount);"
           "INSERT INTO TARGET_INFO_GPU VALUES (0, NULL, 'ASPEED', NULL), (1, 0, 'NVIDIA H200', 132);"
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId) VALUES (1, 2, 0), (3, 4, 5)");
  ASSERT_EQ(t.devices.size(), 2u);
  EXPECT_EQ(t.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(t.devices[1].ordinal, 5);
  EXPECT_EQ(t.devices[1].name, "");
}

TEST_F(Synthetic, ProcessesThatSeeDifferentGpus) {
  const Trace t =
      Read(std::string(kStrings) + kKernels +
           "CREATE TABLE TARGET_INFO_GPU (id, cuDevice, name, smCount);"
           "INSERT INTO TARGET_INFO_GPU VALUES (2, 2, 'two', 10), (3, 3, 'three', 10);"
           "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);"
           "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (2, 0, 100), (3, 0, 200);"
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, globalPid) VALUES (1, 2, 0, " +
           test::Pid(200) + "), (3, 4, 0, " + test::Pid(100) + ")");
  ASSERT_EQ(t.devices.size(), 2u);
  EXPECT_EQ(t.devices[t.kernels.device[0]].name, "three");
  EXPECT_EQ(t.devices[t.kernels.device[0]].ordinal, 3);
  EXPECT_EQ(t.devices[t.kernels.device[1]].name, "two");
  EXPECT_EQ(t.health.notes.size(), 1u);
}

TEST_F(Synthetic, OneVisibleGpuKeepsItsCudaNumber) {
  const Trace t =
      Read(std::string(kStrings) + kKernels +
           "CREATE TABLE TARGET_INFO_GPU (id, cuDevice, name, smCount);"
           "INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'zero', 10), (3, 3, 'three', 10);"
           "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);"
           "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 100);"
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, globalPid) VALUES (1, 2, 0, " +
           test::Pid(100) + ")");
  ASSERT_EQ(t.devices.size(), 1u);
  EXPECT_EQ(t.devices[0].name, "three");
  EXPECT_EQ(t.devices[0].ordinal, 0);
}

TEST_F(Synthetic, EnvironmentOfOldExports) {
  const Trace t = Read(
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name, value);"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('DeviceEnvironment', 'A=1;LS_COLORS=di=1;ex=2;no "
      "pair;PYTORCH_VERSION=2.1'),"
      " ('CpuCores', '8'), ('NvDriverVersion', '5303002'), ('CudaDriverVersion', '11070')");
  EXPECT_EQ(t.environment.at("A"), "1");
  EXPECT_EQ(t.environment.at("PYTORCH_VERSION"), "2.1");
  EXPECT_EQ(t.facts.at("framework"), "PyTorch 2.1");
  EXPECT_EQ(t.facts.at("driver_version"), "530.30.02");
  EXPECT_EQ(t.facts.at("cuda_version"), "11.7");
  EXPECT_EQ(t.facts.at("cpu_cores"), "8");
  EXPECT_FALSE(t.facts.contains("host"));
  EXPECT_TRUE(t.command.empty());
}

TEST_F(Synthetic, HostileCells) {
  const Trace t = Read(
      std::string(kStrings) + kKernels + kRanges + kCalls +
      "INSERT INTO StringIds VALUES (-7, 'negative'), (9223372036854775807, 'large'), (-9223372036854775808, "
      "x'00FF80');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, "
      "demangledName,"
      " gridX, gridY, gridZ, blockX, staticSharedMemory, dynamicSharedMemory, registersPerThread, "
      "graphNodeId) VALUES"
      " (1, 2, 0, -9223372036854775808, 9223372036854775807, -9223372036854775808, -9223372036854775808,"
      "  9223372036854775807, 9223372036854775807, 9223372036854775807, -3, 9223372036854775807,"
      "  9223372036854775807, 9223372036854775807, -1),"
      " (2, 3, 0, 'text', x'01', 1e300, 9223372036854775807, NULL, 'x', x'', 1.5, 2, 3, 4, 5),"
      " (3, 4, 0, 0, 0, 0, 12345, 1, 1, 1, 1, 1, 1, 1, 0),"
      " (4, 5, 0, 0, 0, 0, x'6100620A', 1, 1, 1, 1, 1, 1, 1, 0),"
      " (5, 6, 0, 0, 0, 0, -7, 1, 1, 1, 1, 1, 1, 1, 0),"
      // Not usable: no device, no time, times beyond all measure.
      " (6, 7, -1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
      " (6, 7, 4294967295, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
      " (NULL, 7, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
      " (6, NULL, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
      " ('six', 7, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
      " (6, 9223372036854775807, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
      " (-9223372036854775808, 9223372036854775807, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
      " (-3000000000000000000, 3000000000000000000, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
      " (9, 8, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0);"
      "INSERT INTO NVTX_EVENTS VALUES (1, NULL, 59, x'00', NULL, -9223372036854775808, -9223372036854775808, "
      "-1),"
      " (2, 3, 'x', NULL, 1e300, 'd', 9223372036854775807, NULL), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
      "NULL);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, NULL, 1, 1, 1), (1, 2, 5, NULL, NULL, NULL)");
  ASSERT_EQ(t.kernels.size(), 5u);
  EXPECT_EQ(t.health.rows_skipped.at("CUPTI_ACTIVITY_KIND_KERNEL"), 9);
  EXPECT_EQ(t.health.negative_durations, 1);
  EXPECT_THAT(Names(t, t.kernels.name), ElementsAre(std::string("\0\xFF\x80", 3), "large", "[string 12345]",
                                                    std::string("a\0b\n", 4), "negative"));
  EXPECT_GT(t.kernels.grid[0], 0);
  EXPECT_GT(t.kernels.shared_bytes[0], 0);
  EXPECT_EQ(t.kernels.registers[0], std::numeric_limits<int32_t>::max());
  EXPECT_EQ(t.kernels.correlation[1], kNoCorrelation);
  EXPECT_EQ(t.ranges.size(), 2u);
  EXPECT_EQ(t.api_calls.size(), 1u);
  EXPECT_EQ(t.api_calls.correlation[0], kNoCorrelation);
}

TEST_F(Synthetic, SumsCannotOverflow) {
  const Trace t = Read(std::string(kStrings) + kKernels +
                       "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) "
                       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId) "
                       "SELECT i, 300000000000000000, 0 FROM n");
  int64_t total = 0;
  for (size_t i = 0; i < t.kernels.size(); ++i)
    ASSERT_FALSE(__builtin_add_overflow(total, t.kernels.end[i] - t.kernels.start[i], &total));
  EXPECT_EQ(t.kernels.size(), 3u);
  EXPECT_EQ(t.health.rows_skipped.at("CUPTI_ACTIVITY_KIND_KERNEL"), 97);
}

TEST_F(Synthetic, ViewsAreNotRun) {
  const Trace t =
      Read(std::string(kStrings) +
           "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS"
           " (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end, 0 AS deviceId FROM n");
  EXPECT_EQ(t.kernels.size(), 0u);
  EXPECT_THAT(t.health.missing_tables, testing::Contains("CUPTI_ACTIVITY_KIND_KERNEL"));
}

TEST_F(Synthetic, NothingIsWrittenAndAnyPathIsRead) {
  const std::string sql = std::string(kStrings) + kKernels +
                          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId) VALUES (1, 2, 0)";
  const fs::path folder = dir_.path() / "a folder?x=1#2%20&%3F";
  fs::create_directory(folder);
  const fs::path file = MakeDatabase(folder / "run 100% #1?mode=rwc.sqlite", sql);
  // As a program leaves it that used a write-ahead log and closed properly.
  test::Sqlite(file).Run("PRAGMA journal_mode = WAL");
  const auto listing = [&] {
    std::map<std::string, std::string> content;
    for (const auto& entry : fs::directory_iterator(folder))
      content[entry.path()] = test::ReadFile(entry.path());
    return content;
  };
  const auto before = listing();
  ASSERT_EQ(before.size(), 1u);
  const auto written = fs::last_write_time(file);
  EXPECT_EQ(ReadProfile(file).kernels.size(), 1u);
  EXPECT_EQ(ReadProfile(file).path, file.string());
  EXPECT_EQ(listing(), before);
  EXPECT_EQ(fs::last_write_time(file), written);
}

TEST_F(Synthetic, EmptyTablesAreNoError) {
  const Trace t = Read(std::string("CREATE TABLE StringIds (id, value);") + kKernels + kCalls);
  EXPECT_EQ(t.kernels.size(), 0u);
  EXPECT_TRUE(t.devices.empty());
  EXPECT_EQ(t.health.rows_read.at("CUPTI_ACTIVITY_KIND_KERNEL"), 0);
}

}  // namespace
}  // namespace dladvisor
