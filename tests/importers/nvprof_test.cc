// SPDX-License-Identifier: Apache-2.0
// Small databases of nvprof written here, one trap each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/importers/nvprof/call_names.h"
#include "src/trace/check_trace.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Of CUDA 10. `@` stands for the prefix of tables.
constexpr char kNvprofTables[] =
    "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL UNIQUE);"
    "CREATE TABLE Version (version INTEGER);"
    "CREATE TABLE @MEMCPY (_id_ INTEGER PRIMARY KEY, copyKind INT, srcKind INT, dstKind INT, flags INT, "
    "bytes INT,"
    " start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, runtimeCorrelationId "
    "INT);"
    "CREATE TABLE @MEMSET (_id_ INTEGER PRIMARY KEY, value INT, bytes INT, start INT, end INT, deviceId INT,"
    " contextId INT, streamId INT, correlationId INT, flags INT, memoryKind INT);"
    "CREATE TABLE @KERNEL (_id_ INTEGER PRIMARY KEY, registersPerThread INT, start INT, end INT, deviceId "
    "INT,"
    " streamId INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, staticSharedMemory "
    "INT,"
    " dynamicSharedMemory INT, correlationId INT, runtimeCorrelationId INT, name INT);"
    "CREATE TABLE @CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY, registersPerThread INT, start INT, end INT,"
    " deviceId INT, streamId INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT,"
    " staticSharedMemory INT, dynamicSharedMemory INT, correlationId INT, name INT);"
    "CREATE TABLE @RUNTIME (_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT, processId INT, threadId "
    "INT,"
    " correlationId INT, returnValue INT);"
    "CREATE TABLE @DRIVER (_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT, processId INT, threadId "
    "INT,"
    " correlationId INT, returnValue INT);"
    "CREATE TABLE @DEVICE (_id_ INTEGER PRIMARY KEY, id INT, name INT, numMultiprocessors INT,"
    " globalMemorySize INT, globalMemoryBandwidth INT, l2CacheSize INT, coreClockRate INT,"
    " computeCapabilityMajor INT, computeCapabilityMinor INT);"
    "CREATE TABLE @CONTEXT (_id_ INTEGER PRIMARY KEY, contextId INT, deviceId INT);"
    "CREATE TABLE @NAME (_id_ INTEGER PRIMARY KEY, objectKind INT, objectId BLOB, name INT);"
    "CREATE TABLE @OVERHEAD (_id_ INTEGER PRIMARY KEY, overheadKind INT, objectKind INT, objectId BLOB, "
    "start INT,"
    " end INT);"
    "CREATE TABLE @SYNCHRONIZATION (_id_ INTEGER PRIMARY KEY, type INT, start INT, end INT, correlationId "
    "INT,"
    " contextId INT, streamId INT);"
    "CREATE TABLE @MARKER (_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT, id INT, objectKind INT,"
    " objectId BLOB, name INT);"
    "CREATE TABLE @UNIFIED_MEMORY_COUNTER (_id_ INTEGER PRIMARY KEY, counterKind INT, value INT, start INT, "
    "end INT,"
    " srcId INT, dstId INT);"
    "INSERT INTO Version VALUES (12);"
    "INSERT INTO StringTable VALUES (1, './app -n 5'), (2, 'TITAN Xp'), (3, '_Z4gemmPf'), (4, 'step 1'),"
    " (5, 'load');"
    "INSERT INTO @RUNTIME VALUES (1, 211, 1000, 1010, 7, 8, 40, 0);";

std::string NvprofOf(const std::string& sql) {
  std::string result;
  for (const char c : std::string(kNvprofTables) + sql)
    if (c == '@')
      result += "CUPTI_ACTIVITY_KIND_";
    else
      result += c;
  return result;
}

class Nvprof : public testing::Test {
 protected:
  Trace Read(const std::string& sql) {
    Trace trace =
        ReadProfile(test::MakeDatabase(dir_.path() / (std::to_string(++files_) + ".nvvp"), NvprofOf(sql)));
    EXPECT_THAT(CheckTrace(trace), IsEmpty());
    return trace;
  }
  test::ScratchDir dir_;
  int files_ = 0;
};

TEST_F(Nvprof, KernelIsOfTheCallThatLaunchesIt) {
  const Trace t = Read(
      "INSERT INTO @CONCURRENT_KERNEL VALUES (1, 101, 1020, 1090, 0, 7, 30, 2, 1, 64, 2, 1, 128, 512, 40, 3);"
      "INSERT INTO @DEVICE VALUES (1, 0, 2, 30, 12788498432, 547680000, 3145728, 1582000, 6, 1);"
      "INSERT INTO @NAME VALUES (1, 1, x'07000000', 1);");
  EXPECT_EQ(t.format, "nvprof");
  EXPECT_EQ(t.schema_version, "12");
  EXPECT_THAT(t.command, ElementsAre("./app -n 5"));
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.start[0], 20);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "gemm(float*)");
  EXPECT_EQ(t.names.View(t.kernels.short_name[0]), "gemm");
  EXPECT_EQ(t.kernels.grid[0], 60);
  EXPECT_EQ(t.kernels.block[0], 128);
  EXPECT_EQ(t.kernels.registers[0], 101);
  EXPECT_EQ(t.kernels.shared_bytes[0], 640);
  EXPECT_EQ(t.kernels.stream[0], 7);
  EXPECT_EQ(t.kernels.correlation[0], 40);
  ASSERT_EQ(t.api_calls.size(), 1u);
  EXPECT_EQ(t.names.View(t.api_calls.name[0]), "cudaLaunchKernel");
  EXPECT_EQ(t.processes.at(t.kernels.process[0]).pid, 7);
  EXPECT_EQ(t.threads.at(t.api_calls.thread[0]).tid, 8);
  ASSERT_EQ(t.devices.size(), 1u);
  EXPECT_EQ(t.devices[0].name, "TITAN Xp");
  EXPECT_EQ(t.devices[0].sm_count, 30);
  EXPECT_EQ(t.devices[0].memory_bandwidth, 547'680'000'000);
  EXPECT_EQ(t.devices[0].clock_hz, 1'582'000'000);
}

TEST_F(Nvprof, CopiesAndSetsHaveCuptisKinds) {
  const Trace t = Read(
      "INSERT INTO @MEMCPY VALUES (1, 1, 1, 3, 0, 4096, 1100, 1200, 1, 1, 7, 41, 0),"
      " (2, 2, 3, 2, 0, 8, 1200, 1300, 1, 1, 7, 42, 40);"
      "INSERT INTO @MEMSET VALUES (1, 0, 64, 1300, 1310, 1, 1, 7, 43, 0, 3);");
  ASSERT_EQ(t.copies.size(), 2u);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(t.copies.source[0], MemoryKind::kPageable);
  EXPECT_EQ(t.copies.destination[0], MemoryKind::kDevice);
  EXPECT_EQ(t.copies.bytes[0], 4096);
  EXPECT_EQ(t.copies.destination[1], MemoryKind::kPinned);
  EXPECT_EQ(t.copies.correlation[1], 40) << "the runtime's number, of two";
  EXPECT_EQ(t.devices.at(t.copies.device[0]).ordinal, 1);
  ASSERT_EQ(t.sets.size(), 1u);
  EXPECT_EQ(t.sets.bytes[0], 64);
}

TEST_F(Nvprof, KernelsThatRanOneByOneAreReadWhereThereAreNoOthers) {
  const std::string serial =
      "INSERT INTO @KERNEL VALUES (1, 8, 1020, 1090, 0, 7, 1, 1, 1, 64, 1, 1, 0, 0, 9, 40, 3);";
  EXPECT_EQ(Read(serial).kernels.size(), 1u);
  const Trace both =
      Read(serial +
           "INSERT INTO @CONCURRENT_KERNEL VALUES (1, 8, 2020, 2050, 0, 7, 1, 1, 1, 64, 1, 1, 0, 0, 40, 3);");
  ASSERT_EQ(both.kernels.size(), 1u);
  EXPECT_EQ(both.kernels.end[0] - both.kernels.start[0], 30);
}

// nvcc writes names that are cut off, or that demanglers do not know.
TEST_F(Nvprof, AKernelWhoseNameStaysMangledHasAShortOne) {
  const Trace t = Read(
      "INSERT INTO StringTable VALUES (6, '_ZN7cutlass6KernelINS_4gemm');"
      "INSERT INTO @CONCURRENT_KERNEL VALUES (1, 8, 2020, 2050, 0, 7, 1, 1, 1, 64, 1, 1, 0, 0, 40, 6);");
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "_ZN7cutlass6KernelINS_4gemm");
  EXPECT_EQ(t.names.View(t.kernels.short_name[0]), "Kernel");
}

TEST_F(Nvprof, PagesOfManagedMemoryMove) {
  const Trace t = Read(
      "INSERT INTO @UNIFIED_MEMORY_COUNTER VALUES (1, 1, 65536, 1100, 1200, 4294967295, 0),"
      " (2, 2, 4096, 1200, 1210, 0, 4294967295), (3, 4, 12, 1300, 1400, 0, 0), (4, 3, 140000000, 1500, 1500, "
      "7, 7),"
      " (5, 5, 1, 1600, 1600, 0, 0);");
  ASSERT_EQ(t.copies.size(), 2u);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kUnifiedHostToDevice);
  EXPECT_EQ(t.copies.direction[1], CopyDirection::kUnifiedDeviceToHost);
  EXPECT_EQ(t.copies.bytes[1], 4096);
  ASSERT_EQ(t.page_faults.size(), 2u);
  EXPECT_EQ(t.page_faults.faults[0], 12);
  EXPECT_EQ(t.page_faults.device[1], kNoIndex);
  EXPECT_EQ(t.page_faults.faults[1], 1) << "its value is an address";
  EXPECT_EQ(t.health.rows_skipped.at("CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER"), 1);
}

TEST_F(Nvprof, RangesAreTwoMarkers) {
  const Trace t = Read(
      "INSERT INTO @MARKER VALUES (1, 2, 1000, 1, 2, x'0700000008000000', 4),"
      " (2, 2, 1010, 2, 2, x'0700000008000000', 5), (3, 4, 1020, 2, 2, x'0700000008000000', 0),"
      " (4, 4, 1100, 1, 2, x'0700000008000000', 0), (5, 1, 1110, 3, 2, x'0700000008000000', 5),"
      " (6, 2, 1200, 4, 2, x'0700000008000000', 4), (7, 2, 1210, 5, 2, x'0700000008000000', 5),"
      " (8, 4, 1220, 4, 2, x'0700000008000000', 0), (9, 4, 1300, 9, 2, x'0700000008000000', 0);");
  ASSERT_EQ(t.ranges.size(), 4u);
  EXPECT_EQ(t.names.View(t.ranges.name[0]), "step 1");
  EXPECT_EQ(t.ranges.end[0] - t.ranges.start[0], 100);
  EXPECT_EQ(t.ranges.kind[0], RangeKind::kPushPop);
  EXPECT_EQ(t.names.View(t.ranges.name[1]), "load");
  EXPECT_EQ(t.ranges.kind[2], RangeKind::kMark);
  EXPECT_EQ(t.ranges.kind[3], RangeKind::kStartEnd) << "it ends within another";
  EXPECT_EQ(t.health.rows_skipped.at("CUPTI_ACTIVITY_KIND_MARKER"), 1) << "the end of no range";
}

TEST_F(Nvprof, OverheadsOfTheProfilerAreApartFromTheDrivers) {
  const Trace t = Read(
      "INSERT INTO @OVERHEAD VALUES (1, 131072, 1, x'0700000000000000', 1000, 1005),"
      " (2, 1, 1, x'0700000000000000', 1010, 1020);"
      "INSERT INTO @CONTEXT VALUES (1, 3, 0);"
      "INSERT INTO @SYNCHRONIZATION VALUES (1, 4, 1030, 1040, 44, 3, 0);");
  ASSERT_EQ(t.overheads.size(), 1u);
  EXPECT_EQ(t.threads.at(t.overheads.thread[0]).tid, 7);
  ASSERT_EQ(t.syncs.size(), 1u);
  EXPECT_EQ(t.syncs.kind[0], SyncKind::kContext);
  EXPECT_EQ(t.devices.at(t.syncs.device[0]).ordinal, 0);
}

TEST_F(Nvprof, WorkOfSeveralProcessesIsJoinedToNoCall) {
  const Trace t = Read(
      "INSERT INTO @DRIVER VALUES (1, 307, 1000, 1010, 9, 10, 40, 0);"
      "INSERT INTO @CONCURRENT_KERNEL VALUES (1, 8, 1020, 1050, 0, 7, 1, 1, 1, 64, 1, 1, 0, 0, 40, 3);");
  EXPECT_EQ(t.kernels.correlation[0], kNoCorrelation);
}

constexpr char kWorkOfAnotherClock[] =
    "INSERT INTO @CONCURRENT_KERNEL VALUES (1, 8, 400000000000000, 400000000000050, 0, 7, 1, 1, 1, 64, 1, 1, "
    "0, 0, 40, 3);"
    "INSERT INTO @SYNCHRONIZATION VALUES (1, 4, 1020, 2000, 40, 1, 0);";

TEST_F(Nvprof, OfAnotherClockTheHostIsLeftOut) {
  const Trace t = Read(kWorkOfAnotherClock);
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.start[0], 0);
  EXPECT_EQ(t.api_calls.size(), 0u);
  EXPECT_EQ(t.syncs.size(), 0u);
  EXPECT_THAT(t.health.notes, ElementsAre(testing::HasSubstr("another clock")));
}

TEST_F(Nvprof, CallsOfTheSameNumbersInManyProcessesSayNothingOfTheClock) {
  const Trace t = Read(std::string(kWorkOfAnotherClock) +
                       "INSERT INTO @DRIVER VALUES (1, 307, 1000, 1010, 9, 10, 40, 0);");
  EXPECT_EQ(t.api_calls.size(), 2u);
}

TEST_F(Nvprof, HostileCells) {
  const Trace t = Read(
      "INSERT INTO @CONCURRENT_KERNEL VALUES (1, -5, 1020, 1050, 0, 7, -1, 99999999999999, 1, 64, 1, 1, -1,"
      " 99999999999, 'x', 77), (2, 8, 0, 0, 0, 7, 1, 1, 1, 1, 1, 1, 0, 0, 40, 3),"
      " (3, 8, 100, 50, 0, 7, 1, 1, 1, 1, 1, 1, 0, 0, 40, 3), (4, 8, 1, 9223372036854775807, 0, 7, 1, 1, 1, "
      "1, 1, 1, 0,"
      " 0, 40, 3), (5, 8, 1000, 1001, -1, 7, 1, 1, 1, 1, 1, 1, 0, 0, 40, 3);"
      "INSERT INTO @MEMCPY VALUES (1, 99, -1, 99, 0, -7, 1100, 1200, 0, 1, 7, 41, 0),"
      " (2, 99, -1, 99, 0, 7, 1100, 1200, 0, 1, 7, 41, 0);"
      "INSERT INTO @RUNTIME VALUES (2, 99999, 1000, 1010, 7, 8, 41, 0);"
      "INSERT INTO @OVERHEAD VALUES (1, 131072, 1, x'07', 1000, 1005);");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "[unnamed]");
  EXPECT_EQ(t.kernels.registers[0], 0);
  EXPECT_EQ(t.health.rows_skipped.at("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"), 4);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kUnknown);
  EXPECT_EQ(t.names.View(t.api_calls.name[1]), "runtime function 99999");
}

TEST(NvprofCalls, HaveTheNumbersOfCupti) {
  EXPECT_EQ(nvprof::RuntimeCallName(1), "cudaDriverGetVersion");
  EXPECT_EQ(nvprof::RuntimeCallName(13), "cudaLaunch");
  EXPECT_EQ(nvprof::RuntimeCallName(31), "cudaMemcpy");
  EXPECT_EQ(nvprof::RuntimeCallName(165), "cudaDeviceSynchronize");
  EXPECT_EQ(nvprof::RuntimeCallName(225), "cudaMemcpyAsync");
  EXPECT_EQ(nvprof::RuntimeCallName(0), "");
  EXPECT_EQ(nvprof::DriverCallName(17), "cuCtxSynchronize");
  EXPECT_EQ(nvprof::DriverCallName(277), "cuMemcpyHtoDAsync");
  EXPECT_EQ(nvprof::DriverCallName(307), "cuLaunchKernel");
  EXPECT_EQ(nvprof::DriverCallName(-1), "");
}

}  // namespace
}  // namespace dladvisor
