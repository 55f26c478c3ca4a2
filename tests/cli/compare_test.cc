// SPDX-License-Identifier: Apache-2.0
// `dladvisor compare` as its user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/planted_run.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr test::RunSize kSize = {.steps = 12, .kernels = 40};

class CompareCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<test::ScratchDir>();
    test::WriteRun(Path("slow"), 1, 0.3, kSize);
    test::WriteRun(Path("fast"), 2, 0, kSize);
  }
  static void TearDownTestSuite() { scratch_.reset(); }
  static fs::path Path(const std::string& name) { return scratch_->path() / name; }
  static test::RunResult Run(const std::string& arguments) {
    return test::Run("cd '" + scratch_->path().string() + "' && '" + test::ProgramPath().string() + "' " +
                     arguments);
  }
  static std::unique_ptr<test::ScratchDir> scratch_;
};
std::unique_ptr<test::ScratchDir> CompareCommand::scratch_;

TEST_F(CompareCommand, SaysHowMuchFasterAndWhy) {
  const auto run = Run("compare slow fast");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, testing::StartsWith("B takes "));
  EXPECT_THAT(run.out, HasSubstr("less time per step"));
  EXPECT_THAT(run.out, HasSubstr("Gone Findings"));
}

TEST_F(CompareCommand, ReadsDigestsAlike) {
  ASSERT_EQ(Run("digest slow -o slow.digest").status, 0);
  ASSERT_EQ(Run("digest fast -o fast.digest").status, 0);
  const auto json = [&](const std::string& arguments) {
    const auto run = Run("compare --format json " + arguments);
    EXPECT_EQ(run.status, 0) << run.err;
    return nlohmann::json::parse(run.out);
  };
  const auto files = json("slow fast"), digests = json("slow.digest fast.digest");
  EXPECT_EQ(files["headline"], digests["headline"]);
  EXPECT_EQ(files["ledger"], digests["ledger"]);
}

TEST_F(CompareCommand, WritesEveryFormat) {
  for (const char* file : {"c.html", "c.md", "c.json", "c.txt"}) {
    EXPECT_EQ(Run(std::string("compare slow fast -o ") + file).status, 0);
    EXPECT_THAT(test::ReadFile(Path(file)), HasSubstr("less time per step")) << file;
  }
}

TEST_F(CompareCommand, TakesTwoRuns) {
  const auto one = Run("compare slow");
  EXPECT_EQ(one.status, 3);
  EXPECT_THAT(one.err, HasSubstr("compares two runs, and 1 is given"));
  EXPECT_EQ(Run("compare slow fast slow").status, 3);
  const auto missing = Run("compare slow none.sqlite");
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.err, HasSubstr("dladvisor: none.sqlite: no such file"));
  EXPECT_THAT(Run("compare - - < /dev/null").err, HasSubstr("the standard input is one run"));
  EXPECT_THAT(Run("compare slow slow").out, HasSubstr("A and B are the same file."));
  EXPECT_THAT(Run("compare --help").out, HasSubstr("Usage: dladvisor compare [OPTIONS] A B\n"));
}

TEST_F(CompareCommand, DoesNotWriteOverItsInput) {
  ASSERT_EQ(Run("digest slow -o input.digest").status, 0);
  const std::string before = test::ReadFile(Path("input.digest"));
  EXPECT_EQ(Run("compare input.digest fast --format json -o input.digest").status, 3);
  EXPECT_EQ(test::ReadFile(Path("input.digest")), before);
}

}  // namespace
}  // namespace dladvisor
