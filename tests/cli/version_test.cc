// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Version, NamesTheBuildAndItsLibraries) {
  const test::RunResult version = test::Run(test::ProgramPath().string() + " --version");
  EXPECT_EQ(version.status, 0);
  EXPECT_THAT(version.out, StartsWith("dladvisor 0.1.0\nbuilt with "));
  EXPECT_THAT(version.out, HasSubstr("\nlibraries: SQLite 3."));
}

TEST(Version, SaysWhichInstructionsReadJson) {
  const test::RunResult version =
      test::Run("SIMDJSON_FORCE_IMPLEMENTATION=fallback " + test::ProgramPath().string() + " --version");
  EXPECT_THAT(version.out, HasSubstr("simdjson's fallback\n"));
}

TEST(Options, AMistypedOneIsCorrected) {
  const std::string program = test::ProgramPath().string();
  EXPECT_THAT(test::Run(program + " report --fromat json x.sqlite").err,
              StartsWith("dladvisor: --fromat is not an option (did you mean --format?)\n"
                         "  `dladvisor report --help` shows how it is used.\n"));
  // Those of the program may follow the command.
  EXPECT_THAT(test::Run(program + " report --confg=x x.sqlite").err, HasSubstr("(did you mean --config?)"));
  EXPECT_THAT(test::Run(program + " rules test --filtr x").err, HasSubstr("(did you mean --filter?)"));
}

}  // namespace
}  // namespace dladvisor
