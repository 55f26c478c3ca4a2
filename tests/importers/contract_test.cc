// SPDX-License-Identifier: Apache-2.0
// What every importer makes of every file keeps the contract of a Trace.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "tests/importers/large_export.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

namespace fs = std::filesystem;

TEST(Contract, IsKeptByALargeExport) {
  const test::ScratchDir dir;
  const Trace trace = ReadProfile(test::MakeLargeExport(dir.path() / "large.sqlite", true));
  EXPECT_EQ(CheckTrace(trace), std::vector<std::string>());
}

TEST(Contract, IsKeptByEveryImporterOnEveryFile) {
  std::set<std::string> formats;
  if (test::DataDir().empty()) GTEST_SKIP() << "no real profiles: set DLADVISOR_DATA to their folder";
  for (const auto& file : fs::recursive_directory_iterator(test::DataDir())) {
    if (!file.is_regular_file()) continue;
    SCOPED_TRACE(file.path().string());
    try {
      const Trace trace = ReadProfile(file.path());
      EXPECT_EQ(CheckTrace(trace), std::vector<std::string>());
      formats.insert(trace.format);
    } catch (const Error&) {  // not a profile
    }
  }
  for (const char* format :
       {"dlprof", "kineto", "nsys", "nvidia-smi", "program log", "span trace", "summary", "training log"})
    EXPECT_TRUE(formats.contains(format)) << format;
}

}  // namespace
}  // namespace dladvisor
