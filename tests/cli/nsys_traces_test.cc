// SPDX-License-Identifier: Apache-2.0
// The traces of `nsys stats`, as views under their names and columns.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "tests/support/files.h"

namespace dladvisor {
namespace {

class NsysTraces : public testing::Test {
 protected:
  NsysTraces() {
    const int64_t pid = 9 << 24, tid = pid + 9;
    const std::string sql = fmt::format(
        "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
        "INSERT INTO StringIds VALUES(1, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaMemcpy_v3020');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT, "
        "correlationId INT, "
        "globalPid INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, blockX INT, "
        "blockY INT, "
        "blockZ INT, registersPerThread INT);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(3000, 4500, 0, 7, 11, {0}, 1, 1, 8, 2, 1, 128, 1, 1, "
        "32);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId INT, "
        "correlationId INT, "
        "globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1000, 2000, 0, 7, 10, {0}, 4000000, 1, 0, 2);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, "
        "nameId INT, "
        "returnValue INT);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(900, 1100, {1}, 10, 4, 0), (1200, 1300, {1}, 11, 3, "
        "2);"
        "CREATE TABLE ThreadNames(nameId INT, priority INT, globalTid INT);"
        "INSERT INTO ThreadNames VALUES(1, 0, {1});"
        "CREATE TABLE TARGET_INFO_GPU(id INT, name TEXT, smCount INT, cuDevice INT);"
        "INSERT INTO TARGET_INFO_GPU VALUES(0, 'NVIDIA A100', 108, 0);"
        "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT);"
        // Ends where another begins; without length, twice at one moment; of another thread; start and end.
        "INSERT INTO NVTX_EVENTS VALUES(800, 1400, 59, 'step', {1}), (810, 1150, 59, 'copy', {1}), "
        "(820, 830, 59, 'a', {1}), (830, 840, 59, 'b', {1}), (1150, 1350, 59, 'launch', {1}), "
        "(1200, 1200, 59, 'x', {1}), (1200, 1200, 59, 'y', {1}), (815, 825, 59, 'other', {1} + 1), "
        "(800, 1400, 60, 'whole', {1});",
        pid, tid);
    sqlite3* db = nullptr;
    sqlite3_open((scratch_.path() / "run.sqlite").c_str(), &db);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  std::string Query(const std::string& view) {
    const test::RunResult run =
        test::Run(fmt::format("cd '{}' && '{}' query run.sqlite {} --format csv", scratch_.path().string(),
                              test::ProgramPath().string(), view));
    EXPECT_EQ(run.status, 0) << run.err;
    return run.out;
  }

  test::ScratchDir scratch_;
};

TEST_F(NsysTraces, OfTheGpu) {
  EXPECT_EQ(
      Query("cuda_gpu_trace"),
      "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes "
      "(MB),"
      "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
      "1000,1000,10,,,,,,,,,,4,4000000,Pageable,Device,NVIDIA A100 (0),,,7,[CUDA memcpy Host-to-Device]\n"
      "3000,1500,11,8,2,1,128,1,1,32,,,,,,,NVIDIA A100 (0),,,7,gemm\n");
}

TEST_F(NsysTraces, OfTheApi) {
  EXPECT_EQ(Query("cuda_api_trace"),
            "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n"
            "900,200,cudaMemcpy,0,10,9,9,,gemm\n"
            "1200,100,cudaLaunchKernel,2,11,9,9,,gemm\n");
}

TEST_F(NsysTraces, OfRanges) {
  EXPECT_EQ(
      Query("nvtx_pushpop_trace"),
      "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,"
      "ParentId,RangeStack,NameTree\n"
      "800,1400,600,540,60,:step,9,9,0,2,1,,:1,:step\n"
      "810,1150,340,20,320,:copy,9,9,1,2,2,1,:1:2,--:copy\n"
      "815,825,10,0,10,:other,9,10,0,0,3,,:3,:other\n"
      "820,830,10,0,10,:a,9,9,2,0,4,2,:1:2:4,----:a\n"
      "830,840,10,0,10,:b,9,9,2,0,5,2,:1:2:5,----:b\n"
      "1150,1350,200,0,200,:launch,9,9,1,2,6,1,:1:6,--:launch\n"
      "1200,1200,0,0,0,:x,9,9,2,0,7,6,:1:6:7,----:x\n"
      "1200,1200,0,0,0,:y,9,9,2,0,8,6,:1:6:8,----:y\n");
}

}  // namespace
}  // namespace dladvisor
