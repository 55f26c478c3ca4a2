// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Doctor : public testing::Test {
 protected:
  test::RunResult Run(const std::string& arguments, const std::string& environment = "") {
    return test::Run(fmt::format("cd '{}' && {} '{}' doctor {}", folder_.path().string(), environment,
                                 test::ProgramPath().string(), arguments));
  }

  std::string Example(const std::string& options = "") {
    const std::string path = (folder_.path() / "run.sqlite").string();
    const std::string generator = (test::ProgramPath().parent_path() / "megatron-gpt").string();
    EXPECT_EQ(test::Run(fmt::format("'{}' naive {} -o '{}'", generator, options, path)).status, 0);
    return "run.sqlite";
  }

  const test::ScratchDir folder_;
};

TEST_F(Doctor, SaysWhatOfTheEnvironmentIsMissing) {
  const std::string text = Run("", "PATH=/nowhere").out;
  EXPECT_THAT(text, HasSubstr("✗ nsys "));
  EXPECT_THAT(text, HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(text, HasSubstr("none: no dladvisor.yaml"));
  test::WriteFile(folder_.path() / "bin/nsys", "#!/bin/sh\n");
  fs::permissions(folder_.path() / "bin/nsys", fs::perms::owner_all);
  EXPECT_THAT(Run("", "PATH=bin").out, HasSubstr("✓ nsys "));
}

TEST_F(Doctor, SaysWhatIsWrongWithTheProjectAndItsRules) {
  test::WriteFile(folder_.path() / "dladvisor.yaml", "rulse: {}\n");
  EXPECT_THAT(Run("").out, ContainsRegex("✗ project file .*rulse"));
  test::WriteFile(folder_.path() / "dladvisor.yaml", "rules: {no-such-rule: off}\n");
  const test::RunResult run = Run("");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("✗ rules "));
}

TEST_F(Doctor, GivesTheCommandThatKeepsWhatWasRecordedAndAddsWhatIsMissing) {
  const test::RunResult run = Run(Example());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("✓ GPU work +77,767\n"));
  EXPECT_THAT(run.out, ContainsRegex("✗ system calls +not recorded\n"));
  EXPECT_THAT(run.out, ContainsRegex("\n  --cpuctxsw=process-tree\n      thread-migrates"));
  EXPECT_THAT(run.out, ContainsRegex("\n  --trace=osrt\n      .*os-waits"));
  EXPECT_THAT(run.out, HasSubstr("  nsys profile --trace=cuda,nvtx,osrt --cpuctxsw=process-tree "
                                 "--cuda-memory-usage=true -o better python train.py\n"
                                 "  nsys export --type sqlite better.nsys-rep\n"));
}

TEST_F(Doctor, AsksPytorchInPython) {
  test::WriteFile(
      folder_.path() / "trace.json",
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10, "dur": 5,)"
      R"( "args": {"device": 0, "stream": 7, "correlation": 1}}, {"ph": "X", "cat": "cuda_runtime", "name":)"
      R"( "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 2, "args": {"correlation": 1}}]})");
  const std::string text = Run("trace.json").out;
  EXPECT_THAT(text, HasSubstr("  with torch.profiler.profile("));
  EXPECT_THAT(text, Not(HasSubstr("nsys profile")));
  // Calls of the operating system are not PyTorch's to record.
  EXPECT_THAT(text, ContainsRegex("it is recorded already, or not by this profiler\n +[^\n]*os-waits"));
  EXPECT_THAT(text, ContainsRegex("with_stack=True\n +[^\n]*checkpoint-in-step"));
}

TEST_F(Doctor, AnUnreadableProfileIsAnError) {
  const test::RunResult run = Run("none.sqlite");
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("none.sqlite"));
}

}  // namespace
}  // namespace dladvisor
