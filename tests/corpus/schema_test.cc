// SPDX-License-Identifier: Apache-2.0
// What is written for programs keeps to its schemas, and the summary to its length: of generated runs, and of
// one profile of each repository that published any.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "src/report/formats/json_summary.h"
#include "tests/support/files.h"
#include "tests/support/json_schema.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

constexpr uintmax_t kMostBytes = 3'000'000;

// The smallest file of each folder that has more than a few rows.
std::vector<fs::path> OneOfEach() {
  std::map<fs::path, fs::path> smallest;
  for (const auto& [folder, extension] :
       std::initializer_list<std::pair<const char*, const char*>>{{"nsys_sqlite", ".sqlite"},
                                                                  {"kineto", ".json"},
                                                                  {"kineto", ".gz"},
                                                                  {"dlprof", ".sqlite"},
                                                                  {"nvidia_smi", ".csv"},
                                                                  {"megatron_logs", ".log"}})
    for (const fs::path& file : test::DataFiles(folder, extension)) {
      constexpr uintmax_t kFewRows = 20'000;
      if (fs::file_size(file) > kMostBytes || fs::file_size(file) < kFewRows) continue;
      fs::path& known = smallest[file.parent_path()];
      if (known.empty() || fs::file_size(file) < fs::file_size(known)) known = file;
    }
  std::vector<fs::path> files;
  for (const auto& [folder, file] : smallest) files.push_back(file);
  return files;
}

class Schemas : public testing::Test {
 protected:
  void SetUp() override {
    if (test::PythonWithJsonschema().empty()) GTEST_SKIP() << "python3-jsonschema is not installed";
  }

  // Writes report and summary of a profile; whether it could be read.
  bool Write(const std::string& profile) {
    const std::string name = fmt::format("{:03}", written_++);
    const std::string report = fmt::format("'{}' report '{}' --format json -o '{}/",
                                           test::ProgramPath().string(), profile, folder_.path().string());
    if (test::Run(report + "report/" + name + ".json'").status != 0) return false;
    const fs::path summary = folder_.path() / "summary" / (name + ".json");
    EXPECT_EQ(test::Run(report + "summary/" + name + ".json' --summary").status, 0) << profile;
    EXPECT_LT(fs::file_size(summary), kMostSummaryBytes) << profile;
    return true;
  }

  void ExpectValid() {
    for (const char* kind : {"report", "summary"})
      EXPECT_EQ(test::SchemaErrors(test::SourceDir() / "docs/schemas" / (std::string(kind) + ".schema.json"),
                                   folder_.path() / kind),
                "");
  }

  Schemas() {
    for (const char* kind : {"report", "summary"}) fs::create_directories(folder_.path() / kind);
  }

  const test::ScratchDir folder_;
  size_t written_ = 0;
};

TEST_F(Schemas, HoldForRealProfiles) {
  const std::vector<fs::path> files = OneOfEach();
  if (files.empty()) GTEST_SKIP() << "no profiles in " << test::DataDir();
  size_t read = 0;
  for (const fs::path& file : files) read += Write(file.string());
  EXPECT_GT(read, files.size() / 2);
  ExpectValid();
}

}  // namespace
}  // namespace dladvisor
