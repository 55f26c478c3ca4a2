// SPDX-License-Identifier: Apache-2.0
// What is read of real profiles of AMD's profilers, against plain SQL over them.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

namespace fs = std::filesystem;

int64_t Total(const GpuOperations& ops) {
  int64_t total = 0;
  for (size_t i = 0; i < ops.size(); ++i) total += ops.end[i] - ops.start[i];
  return total;
}

TEST(RocmCorpus, HoldsWhatTheDatabasesHold) {
  const fs::path folder = test::DataDir() / "formats" / "rocm";
  if (test::DataDir().empty() || !fs::exists(folder)) GTEST_SKIP() << "no real profiles of AMD's profilers";
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".rpd") continue;
    SCOPED_TRACE(file.path().string());
    const Trace t = ReadProfile(file.path());
    EXPECT_TRUE(CheckTrace(t).empty());
    test::Sqlite db(file.path(), SQLITE_OPEN_READONLY);
    const auto one = [&](const std::string& sql) { return std::stoll(db.Query(sql).at(0).at(0)); };
    const std::string of_type =
        " FROM rocpd_op JOIN rocpd_string s ON s.id = opType_id WHERE s.string GLOB '";
    EXPECT_EQ(static_cast<int64_t>(t.kernels.size()), one("SELECT count(*)" + of_type + "KernelExecution'"));
    EXPECT_EQ(Total(t.kernels), one("SELECT sum(end - start)" + of_type + "KernelExecution'"));
    EXPECT_EQ(Total(t.copies), one("SELECT sum(end - start)" + of_type + "Copy*'"));
    int64_t bytes = 0;
    for (const int64_t size : t.copies.bytes) bytes += size;
    EXPECT_EQ(bytes, one("SELECT sum(size) FROM rocpd_copyapi"));
    for (size_t i = 0; i < t.kernels.size(); ++i) EXPECT_GT(t.kernels.grid[i], 0);
  }
}

}  // namespace
}  // namespace dladvisor
