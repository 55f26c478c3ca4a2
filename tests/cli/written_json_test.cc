// SPDX-License-Identifier: Apache-2.0
// What is written for programs about generated runs keeps to its schemas.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/files.h"
#include "tests/support/json_schema.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

class ForPrograms : public testing::Test {
 protected:
  int Run(const std::string& command) {
    const test::RunResult run =
        test::Run(fmt::format("cd '{}' && PATH='{}':\"$PATH\" && {}", folder_.path().string(),
                              test::ProgramPath().parent_path().string(), command));
    errors_ = run.err;
    return run.status;
  }

  std::string Errors(const std::string& kind) {
    return test::SchemaErrors(test::SourceDir() / "docs/schemas" / (kind + ".schema.json"),
                              folder_.path() / kind);
  }

  const test::ScratchDir folder_;
  std::string errors_;
};

TEST_F(ForPrograms, ReportsAndGatesKeepToTheirSchemas) {
  if (test::PythonWithJsonschema().empty()) GTEST_SKIP() << "python3-jsonschema is not installed";
  ASSERT_EQ(Run("mkdir -p report summary gate && megatron-gpt naive -o naive.sqlite && "
                "for run in 1 2 3; do data-parallel --nodes 1 --gpus 2 --program 1 --seed $run -o job/$run; "
                "done && "
                "for run in 4 5 6; do data-parallel --nodes 1 --gpus 2 --program 1 --seed $run --plant "
                "launches --rank 1 "
                "-o job/$run; done"),
            0)
      << errors_;
  for (const std::string profile : {"naive.sqlite", "job/1", "job/4"}) {
    const std::string name = fs::path(profile).filename().string() + ".json";
    ASSERT_EQ(Run(fmt::format("dladvisor report {} -o report/{}", profile, name)), 0) << errors_;
    ASSERT_EQ(Run(fmt::format("dladvisor report {} --summary -o summary/{}", profile, name)), 0) << errors_;
    EXPECT_LT(fs::file_size(folder_.path() / "summary" / name), 20'000U);
  }
  EXPECT_EQ(Run("dladvisor gate --baseline job/1 --baseline job/2 job/3 --json gate/same.json"), 0)
      << errors_;
  EXPECT_EQ(Run("dladvisor gate --baseline job/1 --baseline job/2 --baseline job/3 job/4 job/5 job/6 --json "
                "gate/slower.json"),
            1)
      << errors_;
  EXPECT_EQ(Run("dladvisor gate --baseline none job/4 --json gate/none.json"), 2) << errors_;
  for (const char* kind : {"report", "summary", "gate"}) EXPECT_EQ(Errors(kind), "");
}

TEST_F(ForPrograms, FindingsHaveTheirNameInEveryRun) {
  ASSERT_EQ(
      Run("for run in 1 2; do data-parallel --nodes 1 --gpus 2 --program 1 --seed $run --plant launches "
          "--rank 1 -o $run && dladvisor report $run --summary -o $run.json; done"),
      0)
      << errors_;
  const auto first = nlohmann::json::parse(test::ReadFile(folder_.path() / "1.json"));
  const auto second = nlohmann::json::parse(test::ReadFile(folder_.path() / "2.json"));
  EXPECT_THAT(first["first"].get<std::string>(), HasSubstr("slow-host/"));
  EXPECT_EQ(first["first"], second["first"]);
}

TEST_F(ForPrograms, ASummaryIsJson) {
  EXPECT_EQ(Run("dladvisor report x.sqlite --summary"), 3);
  EXPECT_THAT(errors_, HasSubstr("--summary: is of the JSON alone"));
}

}  // namespace
}  // namespace dladvisor
