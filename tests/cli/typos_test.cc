// SPDX-License-Identifier: Apache-2.0
// Each folder of tests/cases/typos holds rules with one mistake of a newcomer, and in expected.txt what
// `rules check` must say of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

std::vector<fs::path> Cases() {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(test::SourceDir() / "tests/cases/typos"))
    cases.push_back(entry.path());
  std::ranges::sort(cases);
  return cases;
}

class TypoCases : public testing::TestWithParam<fs::path> {};

TEST_P(TypoCases, GetTheExpectedMessage) {
  const fs::path& folder = GetParam();
  const bool project = fs::exists(folder / "dladvisor.yaml");
  const test::RunResult run = test::Run("cd '" + folder.string() + "' && " + test::ProgramPath().string() +
                                        (project ? "" : " --rules rules") + " rules check");
  EXPECT_EQ(run.err, test::ReadFile(folder / "expected.txt"));
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "");
}

// With those of tests/engine/typo_test.cc.
TEST(Typos, AreMany) { EXPECT_GE(Cases().size(), 55U); }

INSTANTIATE_TEST_SUITE_P(Rules, TypoCases, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<fs::path>& test) {
                           std::string name = test.param.filename().string();
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace dladvisor
