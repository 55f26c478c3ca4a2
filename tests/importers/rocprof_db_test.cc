// SPDX-License-Identifier: Apache-2.0
// Small databases of rocprof written here, one trap each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kKernTable[] =
    "CREATE TABLE KERN (\"Index\" INTEGER, \"KernelName\" TEXT, \"gpu-id\" INTEGER, \"queue-id\" INTEGER,"
    " \"pid\" INTEGER, \"tid\" INTEGER, \"grd\" INTEGER, \"wgr\" INTEGER, \"lds\" INTEGER, \"scr\" INTEGER,"
    " \"arch_vgpr\" INTEGER, \"BeginNs\" INTEGER, \"EndNs\" INTEGER);";
constexpr char kTraceTables[] =
    "CREATE TABLE KERN (\"Index\" INTEGER, \"KernelName\" TEXT);"
    "CREATE TABLE HIP (BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT, args TEXT,"
    " \"Index\" INTEGER);"
    "CREATE TABLE OPS (BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER, \"queue-id\" INTEGER, Name TEXT,"
    " pid INTEGER, tid INTEGER, \"stream-id\" INTEGER, \"Index\" INTEGER);"
    "CREATE TABLE COPY (BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER, \"queue-id\" INTEGER, Name TEXT,"
    " pid INTEGER, tid INTEGER, \"stream-id\" INTEGER, \"Index\" INTEGER);"
    "CREATE TABLE rocTX (BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT);";

class RocprofDb : public testing::Test {
 protected:
  Trace Read(const std::string& sql) {
    Trace trace = ReadProfile(test::MakeDatabase(dir_.path() / (std::to_string(++files_) + ".db"), sql));
    EXPECT_THAT(CheckTrace(trace), IsEmpty());
    return trace;
  }
  test::ScratchDir dir_;
  int files_ = 0;
};

TEST_F(RocprofDb, KernelsWithWhatTheyNeed) {
  const Trace t =
      Read(std::string(kKernTable) +
           "INSERT INTO KERN VALUES (0, '\"void gemm<int>(float*) [clone .kd]\"', 8, 3, 70, 71, 1024, 256,"
           " 512, 696, 128, 1000, 1100),"
           " (1, '\"__amd_rocclr_fillBufferAligned.kd\"', 8, 3, 70, 71, 256, 256, 0, 0, 16, 1200, 1210);");
  EXPECT_EQ(t.format, "rocprof");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "void gemm<int>(float*)");
  EXPECT_EQ(t.kernels.grid[0], 4);
  EXPECT_EQ(t.kernels.block[0], 256);
  EXPECT_EQ(t.kernels.registers[0], 128);
  EXPECT_EQ(t.kernels.shared_bytes[0], 512);
  EXPECT_EQ(t.kernels.local_bytes[0], 696);
  EXPECT_EQ(t.facts.at("vendor"), "AMD");
  EXPECT_EQ(t.devices.at(t.kernels.device[0]).ordinal, 8);
  EXPECT_EQ(t.sets.size(), 1u);
  EXPECT_THAT(t.health.notes, ElementsAre(HasSubstr("one by one")));
}

TEST_F(RocprofDb, WorkIsOfTheCallThatLaunchesIt) {
  const Trace t =
      Read(std::string(kTraceTables) +
           "INSERT INTO HIP VALUES (1000, 1010, 70, 71, 'hipLaunchKernel', '( kernel(gemm) stream(1))', 5),"
           " (1020, 1030, 70, 71, 'hipMemcpyAsync', '( dst(0x7f) sizeBytes(24) kind(1) stream(1))', 6);"
           "INSERT INTO OPS VALUES (1015, 1050, 2, 0, 'gemm', 70, 71, 1, 5),"
           " (1050, 1051, 2, 0, '\"<barrier packet>\"', 70, 71, 1, 7);"
           "INSERT INTO COPY VALUES (1060, 1080, 2, 0, 'CopyHostToDevice', 70, 71, 1, 6);"
           "INSERT INTO rocTX VALUES (900, 1100, 70, 71, 'step 1'), (950, 951, 70, 71, 'here');");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.correlation[0], 5);
  EXPECT_EQ(t.kernels.stream[0], 1);
  EXPECT_EQ(t.api_calls.size(), 2u);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(t.copies.bytes[0], 24);
  ASSERT_EQ(t.ranges.size(), 2u);
  EXPECT_EQ(t.ranges.kind[0], RangeKind::kPushPop);
  EXPECT_EQ(t.ranges.kind[1], RangeKind::kMark);
  EXPECT_THAT(t.health.notes, IsEmpty());
}

TEST_F(RocprofDb, HostileCells) {
  const Trace t =
      Read(std::string(kKernTable) +
           "INSERT INTO KERN VALUES (0, NULL, 0, 'x', 'y', 71, -5, 0, -1, 9, 99999999999999, 1000, 1100),"
           " (1, 'a', 5000, 0, 70, 71, 1, 1, 0, 0, 1, 1000, 1100), (2, 'a', 0, 0, 70, 71, 1, 1, 0, 0, 1,"
           " 1000, 900), (3, 'a', 0, 0, 70, 71, 1, 1, 0, 0, 1, NULL, 'None');");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "[unnamed]");
  EXPECT_EQ(t.health.rows_skipped.at("KERN"), 3);
}

}  // namespace
}  // namespace dladvisor
