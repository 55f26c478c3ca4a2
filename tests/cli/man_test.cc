// SPDX-License-Identifier: Apache-2.0
// The man pages, as a reader of their language takes them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Man, EveryCommandHasAPage) {
  const test::ScratchDir folder;
  const std::string program = test::ProgramPath().string();
  ASSERT_EQ(test::Run(fmt::format("'{}' man -o '{}/man1'", program, folder.path().string())).status, 0);
  for (const char* page : {"dladvisor.1", "dladvisor-report.1", "dladvisor-gate.1", "dladvisor-rules.1"})
    EXPECT_TRUE(fs::exists(folder.path() / "man1" / page)) << page;
  const std::string rules = test::ReadFile(folder.path() / "man1/dladvisor-rules.1");
  EXPECT_THAT(rules, HasSubstr(".SS test\n"));
  EXPECT_THAT(rules, HasSubstr("\\fB\\-\\-filter\\fR \\fITEXT\\fR\n"));
  EXPECT_THAT(test::ReadFile(folder.path() / "man1/dladvisor-report.1"),
              HasSubstr("\\fB\\-\\-format\\fR \\fBhtml\\fR|\\fBmd\\fR|\\fBjson\\fR|\\fBtext\\fR\n"));
  EXPECT_THAT(test::ReadFile(folder.path() / "man1/dladvisor-doctor.1"),
              HasSubstr(" [\\fIPROFILE...\\fR]\n"));
  EXPECT_EQ(test::Run(program + " man report").out,
            test::ReadFile(folder.path() / "man1/dladvisor-report.1"));
}

TEST(Man, PagesAreWellFormed) {
  const bool has_groff = test::Run("command -v groff").status == 0;
  if (!has_groff) GTEST_SKIP() << "groff is not installed";
  const test::ScratchDir folder;
  ASSERT_EQ(
      test::Run(fmt::format("'{}' man -o '{}'", test::ProgramPath().string(), folder.path().string())).status,
      0);
  for (const auto& page : fs::directory_iterator(folder.path())) {
    const test::RunResult shown =
        test::Run(fmt::format("groff -man -Tascii -Wbreak '{}'", page.path().string()));
    EXPECT_EQ(shown.status, 0);
    EXPECT_EQ(shown.err, "") << page.path();
  }
}

TEST(Man, ACommandThatIsNotThereIsRefused) {
  const test::RunResult run = test::Run(test::ProgramPath().string() + " man reprot");
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("man reprot: is not a command (did you mean report?)"));
}

}  // namespace
}  // namespace dladvisor
