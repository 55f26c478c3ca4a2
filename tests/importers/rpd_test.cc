// SPDX-License-Identifier: Apache-2.0
// Small databases of rocmProfileData written here, one trap each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::ElementsAre;

// As roctracer's tracer writes: of schema 2.
constexpr char kRpdTables[] =
    "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY AUTOINCREMENT, string varchar(4096));"
    "CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER, tid INTEGER, start INTEGER,"
    " end INTEGER, apiName_id INTEGER, args_id INTEGER);"
    "CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY AUTOINCREMENT, gpuId INTEGER, queueId INTEGER,"
    " sequenceId INTEGER, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);"
    "CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY AUTOINCREMENT, api_id INTEGER, op_id INTEGER);"
    "CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, stream varchar(18), gridX INTEGER,"
    " gridY INTEGER, gridZ INTEGER, workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER,"
    " groupSegmentSize INTEGER, kernelName_id INTEGER);"
    "CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream varchar(18), size INTEGER);"
    "CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);"
    "INSERT INTO rocpd_metadata VALUES (1, 'schema_version', '2');"
    "INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'hipExtModuleLaunchKernel'),"
    " (4, 'hipMemcpyAsync'), (5, 'UserMarker'), (6, 'aten::mm'), (7, 'gemm(float*)'), (8, 'hipGraphLaunch'),"
    " (9, 'KernelExecution'), (10, 'CopyHostToDevice'), (11, 'Task'), (12, 'OpTable::writeRows'),"
    " (13, 'hcc_activity_callback'), (14, 'graphExec = 0x1 | stream = 0x7f00'), (15, 'FillBuffer'),"
    " (16, 'hipMemsetAsync');";

class Rpd : public testing::Test {
 protected:
  Trace Read(const std::string& sql) {
    Trace trace = ReadProfile(test::MakeDatabase(dir_.path() / (std::to_string(++files_) + ".rpd"), sql));
    EXPECT_THAT(CheckTrace(trace), testing::IsEmpty());
    return trace;
  }
  test::ScratchDir dir_;
  int files_ = 0;
};

TEST_F(Rpd, KernelIsOfTheCallThatLaunchesIt) {
  const Trace t = Read(std::string(kRpdTables) +
                       "INSERT INTO rocpd_api VALUES (71, 900, 901, 1000, 1010, 2, 1);"
                       "INSERT INTO rocpd_kernelapi VALUES (71, '0x0', 4, 3, 2, 64, 2, 1, 512, 7);"
                       "INSERT INTO rocpd_op VALUES (5, 2, 0, 0, 1020, 1090, 7, 9);"
                       "INSERT INTO rocpd_api_ops VALUES (1, 71, 5);");
  EXPECT_EQ(t.format, "rpd");
  EXPECT_EQ(t.schema_version, "2");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.start[0], 20);  // from the first event on
  EXPECT_EQ(t.kernels.end[0], 90);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "gemm(float*)");
  EXPECT_EQ(t.names.View(t.kernels.short_name[0]), "gemm");
  EXPECT_EQ(t.devices.at(t.kernels.device[0]).ordinal, 2);
  EXPECT_EQ(t.processes.at(t.kernels.process[0]).pid, 900);
  EXPECT_EQ(t.kernels.grid[0], 24);  // blocks, as roctracer has them of this call
  EXPECT_EQ(t.kernels.block[0], 128);
  EXPECT_EQ(t.kernels.shared_bytes[0], 512);
  ASSERT_EQ(t.api_calls.size(), 1u);
  EXPECT_EQ(t.kernels.correlation[0], t.api_calls.correlation[0]);
  EXPECT_EQ(t.threads.at(t.api_calls.thread[0]).tid, 901);
}

TEST_F(Rpd, NamesThatNoCompilerWritesAreCut) {
  const Trace t = Read(std::string(kRpdTables) +
                       "UPDATE rocpd_string SET string = hex(zeroblob(1000000)) WHERE id = 7;"
                       "INSERT INTO rocpd_api VALUES (71, 900, 901, 1000, 1010, 2, 1);"
                       "INSERT INTO rocpd_kernelapi VALUES (71, '0x0', 4, 3, 2, 64, 2, 1, 512, 7);"
                       "INSERT INTO rocpd_op VALUES (5, 2, 0, 0, 1020, 1090, 7, 9);"
                       "INSERT INTO rocpd_api_ops VALUES (1, 71, 5);");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]).size(), 65536u);
}

TEST_F(Rpd, ModuleLaunchesCountWorkItems) {
  const Trace t = Read(std::string(kRpdTables) +
                       "INSERT INTO rocpd_api VALUES (1, 9, 9, 1000, 1010, 3, 1);"
                       "INSERT INTO rocpd_kernelapi VALUES (1, '0x0', 1000, 2, 1, 256, 1, 1, 0, 7);"
                       "INSERT INTO rocpd_op VALUES (1, 0, 0, 0, 1020, 1090, 7, 9);"
                       "INSERT INTO rocpd_api_ops VALUES (1, 1, 1);");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.grid[0], 4 * 2);
  EXPECT_EQ(t.kernels.block[0], 256);
}

TEST_F(Rpd, GridsOfAnUnknownTracerAreUnknown) {
  const Trace t = Read(std::string(kRpdTables) +
                       "DELETE FROM rocpd_string WHERE id IN (10, 11, 13);"
                       "INSERT INTO rocpd_api VALUES (1, 9, 9, 1000, 1010, 2, 1);"
                       "INSERT INTO rocpd_kernelapi VALUES (1, '0x0', 1024, 1, 1, 256, 1, 1, 0, 7);"
                       "INSERT INTO rocpd_op VALUES (1, 0, 0, 0, 1020, 1090, 7, 9);"
                       "INSERT INTO rocpd_api_ops VALUES (1, 1, 1);");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.grid[0], 0);
}

TEST_F(Rpd, CopiesHaveTheSizeAndStreamOfTheirCalls) {
  const Trace t =
      Read(std::string(kRpdTables) +
           "INSERT INTO rocpd_api VALUES (1, 9, 9, 1000, 1010, 4, 1), (2, 9, 9, 1011, 1012, 16, 1);"
           "INSERT INTO rocpd_copyapi VALUES (1, '0x7f10', 4096);"
           "INSERT INTO rocpd_op VALUES (1, 0, 3, 0, 1020, 1090, 1, 10), (2, 0, 3, 0, 1095, 1099, 1, 15);"
           "INSERT INTO rocpd_api_ops VALUES (1, 1, 1), (2, 2, 2);");
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.bytes[0], 4096);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(t.copies.source[0], MemoryKind::kUnknown);
  EXPECT_EQ(t.copies.destination[0], MemoryKind::kDevice);
  EXPECT_EQ(t.copies.stream[0], 1);
  ASSERT_EQ(t.sets.size(), 1u);
  EXPECT_EQ(t.sets.stream[0], 1);  // what ran before it on its queue
  EXPECT_EQ(t.kernels.size(), 0u);
}

TEST_F(Rpd, AGraphLaunchesManyKernels) {
  const Trace t =
      Read(std::string(kRpdTables) +
           "INSERT INTO rocpd_api VALUES (1, 9, 9, 1000, 1010, 8, 14);"
           "INSERT INTO rocpd_op VALUES (1, 0, 0, 0, 1020, 1030, 7, 11), (2, 0, 0, 0, 1030, 1040, 7, 11);"
           "INSERT INTO rocpd_api_ops VALUES (1, 1, 1), (2, 1, 2);");
  ASSERT_EQ(t.kernels.size(), 2u);
  EXPECT_EQ(t.kernels.correlation[0], t.kernels.correlation[1]);
  EXPECT_NE(t.kernels.graph_node[0], 0);
  EXPECT_NE(t.kernels.graph_node[0], t.kernels.graph_node[1]);
  EXPECT_EQ(t.kernels.stream[0], 1);
}

TEST_F(Rpd, MarkersAreRangesAndTheTracersWorkIsNone) {
  const Trace t =
      Read(std::string(kRpdTables) +
           "INSERT INTO rocpd_api VALUES (1, 9, 9, 1000, 1100, 5, 6), (2, 9, 9, 1010, 1010, 5, 6),"
           " (3, 9, 7, 1020, 1030, 12, 1), (4, 9, 9, 1050, 1060, 2, 1);");
  ASSERT_EQ(t.ranges.size(), 2u);
  EXPECT_EQ(t.names.View(t.ranges.name[0]), "aten::mm");
  EXPECT_EQ(t.ranges.kind[0], RangeKind::kPushPop);
  EXPECT_EQ(t.ranges.kind[1], RangeKind::kMark);
  EXPECT_EQ(t.overheads.size(), 1u);
  EXPECT_EQ(t.api_calls.size(), 1u);
}

// Of schema 3: arguments have a table of their own, and rocprofiler-sdk tells of no copy which GPU it is of.
TEST_F(Rpd, OfRocprofilerSdk) {
  const Trace t = Read(
      "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);"
      "CREATE TABLE rocpd_ustring (id INTEGER PRIMARY KEY, string TEXT);"
      "CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid, tid, start, end, apiName_id, category_id, "
      "domain_id,"
      " args_id);"
      "CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, start, end, description_id,"
      " opType_id);"
      "CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id, op_id);"
      "CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, stream, gridX, gridY, gridZ, workgroupX,"
      " workgroupY, workgroupZ, groupSegmentSize, privateSegmentSize, kernelName_id);"
      "CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream, size);"
      "INSERT INTO rocpd_string VALUES (1, ''), (2, 'hip'), (3, 'hipLaunchKernel'), (4, 'KernelExecution'),"
      " (5, 'MEMORY_COPY_DEVICE_TO_HOST'), (6, 'hipMemcpyWithStream'), (7, 'scale.kd'), (8, 'roctx'),"
      " (9, 'UserMarker');"
      "INSERT INTO rocpd_ustring VALUES (1, ''), (2, 'step 7');"
      "INSERT INTO rocpd_api VALUES (1, 9, 9, 1000, 1010, 3, 1, 2, 1), (2, 9, 9, 1100, 1200, 6, 1, 2, 1),"
      " (3, 9, 9, 990, 1300, 9, 1, 8, 2);"
      "INSERT INTO rocpd_op VALUES (1, 3, 1, 0, 1020, 1090, 7, 4), (2, 0, 0, 0, 1110, 1190, 1, 5);"
      "INSERT INTO rocpd_api_ops VALUES (1, 1, 1), (2, 2, 2);"
      "INSERT INTO rocpd_kernelapi VALUES (1, '0x0', 1024, 1, 1, 256, 1, 1, 0, 0, 7);"
      "INSERT INTO rocpd_copyapi VALUES (2, '0x0', 4)");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "scale");
  EXPECT_EQ(t.kernels.grid[0], 4);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.devices.at(t.copies.device[0]).ordinal, 3);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kDeviceToHost);
  EXPECT_EQ(t.copies.bytes[0], 4);
  ASSERT_EQ(t.ranges.size(), 1u);
  EXPECT_EQ(t.names.View(t.ranges.name[0]), "step 7");
}

TEST_F(Rpd, BadRowsAreCounted) {
  const Trace t =
      Read(std::string(kRpdTables) +
           "INSERT INTO rocpd_op VALUES (1, 0, 0, 0, 1020, 1000, 7, 9), (2, -1, 0, 0, 1, 2, 7, 9),"
           " (3, 'x', 0, 0, 1, 2, 7, 9), (4, 0, 0, 0, 'a', 2, 7, 9), (5, 0, 0, 0, 5, 9, 99, 9);"
           "INSERT INTO rocpd_api_ops VALUES (1, 5, 5), (2, NULL, 'x');");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.correlation[0], kNoCorrelation);
  EXPECT_EQ(t.health.rows_read.at("rocpd_op"), 5);
  EXPECT_EQ(t.health.rows_skipped.at("rocpd_op"), 4);
  EXPECT_EQ(t.health.negative_durations, 1);
}

}  // namespace
}  // namespace dladvisor
