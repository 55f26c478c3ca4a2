// SPDX-License-Identifier: Apache-2.0
// The commands on the profiles of a job.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

// Twelve steps of 1 ms with 20 kernels each; those of a slow rank take half as long again.
std::string TrainingLoop(int64_t rank, bool slow) {
  std::string sql = fmt::format(
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES(1, 'gemm'), (2, 'gelu'), (3, 'cudaLaunchKernel_v7000');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, streamId "
      "INT, "
      "correlationId INT, globalPid INT, demangledName INT, shortName INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT, "
      "correlationId INT, nameId INT, returnValue INT);"
      "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT, domainId INT);"
      "CREATE TABLE TARGET_INFO_GPU(id INT, name TEXT, totalMemory INT, smCount INT, computeMajor INT, "
      "computeMinor INT, cuDevice INT);"
      "INSERT INTO TARGET_INFO_GPU VALUES({}, 'NVIDIA A100-SXM4-80GB', 85095874560, 108, 8, 0, 0);BEGIN;",
      rank);
  const int64_t pid = (100 + rank) << 24, tid = pid + 1, ns = slow ? 30'000 : 20'000;
  for (int64_t step = 0; step < 12; ++step) {
    const int64_t t = 1'000'000 * (step + 1);
    sql += fmt::format("INSERT INTO NVTX_EVENTS VALUES({}, {}, 59, 'step {}', {}, 0);", t, t + 990'000, step,
                       tid);
    for (int64_t k = 0; k < 20; ++k) {
      const int64_t id = step * 20 + k, start = t + 10'000 + k * (ns + 1'000) + step * 10;
      sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({}, {}, 0, {}, {}, 3, 0);",
                         t + k * 1'000, t + k * 1'000 + 500, tid, id);
      sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({}, {}, {}, 1, 7, {}, {}, {}, {});",
                         start, start + ns, rank, id, pid, 1 + k % 2, 1 + k % 2);
    }
  }
  return sql + "COMMIT;";
}

class SeveralProfiles : public testing::Test {
 protected:
  SeveralProfiles() {
    fs::create_directory(scratch_.path() / "job");
    for (int64_t rank = 0; rank < 4; ++rank) {
      sqlite3* db = nullptr;
      sqlite3_open((scratch_.path() / fmt::format("job/rank_{}.sqlite", rank)).c_str(), &db);
      EXPECT_EQ(sqlite3_exec(db, TrainingLoop(rank, rank == 2).c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
          << sqlite3_errmsg(db);
      sqlite3_close(db);
    }
  }

  // Runs the program in the scratch folder; expects status 0.
  std::string Run(const std::string& arguments) {
    const test::RunResult run = test::Run("cd '" + scratch_.path().string() + "' && '" +
                                          test::ProgramPath().string() + "' " + arguments);
    EXPECT_EQ(run.status, 0) << arguments << "\n" << run.err;
    errors_ = run.err;
    return run.out;
  }

  static std::string WithoutFirstLine(const std::string& text) { return text.substr(text.find('\n')); }

  test::ScratchDir scratch_;
  std::string errors_;
};

TEST_F(SeveralProfiles, AFolderAPatternAndAListGiveTheSameReport) {
  const std::string folder = Run("report job");
  EXPECT_THAT(folder, HasSubstr("job (4 profiles)"));
  EXPECT_THAT(folder, HasSubstr("that of rank 2 (GPU 2) is the slowest"));
  EXPECT_THAT(folder, testing::ContainsRegex("slowest +rank +2 .* job/rank_2.sqlite"));
  EXPECT_THAT(folder, HasSubstr("GPU Count                     4"));
  EXPECT_EQ(WithoutFirstLine(Run("report 'job/*.sqlite'")), WithoutFirstLine(folder));
  EXPECT_EQ(
      WithoutFirstLine(Run("report job/rank_0.sqlite job/rank_1.sqlite job/rank_2.sqlite job/rank_3.sqlite")),
      WithoutFirstLine(folder));
}

TEST_F(SeveralProfiles, ADigestOfThemGivesTheSameReport) {
  Run("digest job -o job.digest");
  EXPECT_EQ(Run("report job.digest"), Run("report job"));
  fs::create_directory(scratch_.path() / "digests");
  for (int rank = 0; rank < 4; ++rank)
    Run(fmt::format("digest job/rank_{0}.sqlite -o digests/rank_{0}.digest", rank));
  EXPECT_EQ(WithoutFirstLine(Run("report digests")), WithoutFirstLine(Run("report job")));
}

TEST_F(SeveralProfiles, EveryFormatNamesTheFilesThatCannotBeRead) {
  test::WriteFile(scratch_.path() / "job/rank_9.sqlite",
                  test::ReadFile(scratch_.path() / "job/rank_0.sqlite").substr(0, 5'000));
  for (const char* format : {"text", "md", "html", "json"}) {
    std::string report = Run(std::string("report job --format ") + format);
    std::erase(report, '\\');
    EXPECT_THAT(report, HasSubstr("1 of 5 files could not be read")) << format;
    EXPECT_THAT(report, HasSubstr("rank_9.sqlite")) << format;
  }
}

TEST_F(SeveralProfiles, QueryReadsTheirFactsTogether) {
  EXPECT_EQ(Run("query job 'SELECT max_rank, peers FROM jitter' --format csv"), "max_rank,peers\n2,4\n");
  EXPECT_EQ(errors_, "");
  Run("query job 'SELECT count(*) FROM kernel'");
  EXPECT_THAT(errors_, HasSubstr("only the facts are kept, not the events"));
}

TEST_F(SeveralProfiles, JitterKernelsHaveTheStepAroundTheirLaunch) {
  EXPECT_EQ(Run("query job/rank_2.sqlite 'SELECT * FROM jitter_kernel LIMIT 2' --format csv"),
            "nvtx_text,nvtx_start,nvtx_end,device,crt_name,crt_start,crt_end,kernel_demangled_name,"
            "kernel_stream,kernel_start,kernel_end,kernel_duration\n"
            "step 0,1000000,1990000,2,cudaLaunchKernel_v7000,1000000,1000500,gemm,7,1010000,1040000,30000\n"
            "step 0,1000000,1990000,2,cudaLaunchKernel_v7000,1001000,1001500,gelu,7,1041000,1071000,30000\n");
  EXPECT_EQ(Run("query job/rank_2.sqlite 'SELECT count(*) AS n, count(DISTINCT nvtx_text) AS steps FROM "
                "jitter_kernel' --format csv"),
            "n,steps\n240,12\n");
}

}  // namespace
}  // namespace dladvisor
