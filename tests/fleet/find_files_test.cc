// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/find_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/base/error.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

class FindFilesTest : public testing::Test {
 protected:
  void Touch(const std::string& name) {
    fs::create_directories((dir_.path() / name).parent_path());
    std::ofstream(dir_.path() / name) << "x";
  }
  std::vector<std::string> Names(const std::vector<std::string>& arguments) {
    std::vector<std::string> names;
    for (const FoundFile& file : FindFiles(arguments))
      names.push_back(fs::relative(file.path, dir_.path()).string());
    return names;
  }
  std::string At(const std::string& name) const { return (dir_.path() / name).string(); }

  test::ScratchDir dir_;
};

using Paths = std::vector<std::string>;

TEST_F(FindFilesTest, FoldersWithAllBelowInOrderOfTheirNumbers) {
  for (const char* name : {"rank_10.sqlite", "rank_2.sqlite", "sub/a.json.gz", "model.pt", ".hidden.json",
                           ".cache/b.json", "train.py"})
    Touch(name);
  EXPECT_EQ(Names({dir_.path().string()}), (Paths{"rank_2.sqlite", "rank_10.sqlite", "sub/a.json.gz"}));
}

TEST_F(FindFilesTest, TablesOfOneRunAreOneProfile) {
  for (const char* name :
       {"a/7_kernel_trace.csv", "a/7_hip_api_trace.csv", "a/7_agent_info.csv", "a/7_kernel_stats.csv",
        "a/8_hip_api_trace.csv", "b/kernel_stats.csv", "b/hip_stats.csv"})
    Touch(name);
  EXPECT_EQ(Names({dir_.path().string()}), (Paths{"a/7_kernel_trace.csv", "a/8_hip_api_trace.csv",
                                                  "b/hip_stats.csv", "b/kernel_stats.csv"}));
  EXPECT_EQ(Names({At("a/7_hip_api_trace.csv"), At("a/7_agent_info.csv")}), (Paths{"a/7_hip_api_trace.csv"}));
}

TEST_F(FindFilesTest, ACopyForPerfettoIsNoSecondProfile) {
  for (const char* name : {"a/perfetto_trace.json.gz", "a/vm.trace.json.gz", "b/perfetto_trace.json.gz"})
    Touch(name);
  EXPECT_EQ(Names({dir_.path().string()}), (Paths{"a/vm.trace.json.gz", "b/perfetto_trace.json.gz"}));
  EXPECT_EQ(Names({At("a/perfetto_trace.json.gz"), At("a/vm.trace.json.gz")}).size(), 2u);
}

TEST_F(FindFilesTest, PatternsAndNamesEachOnce) {
  for (const char* name : {"a1.weird", "a2.weird", "b.json"}) Touch(name);
  EXPECT_EQ(Names({At("a*.weird"), At("b.json"), At("./b.json")}), (Paths{"a1.weird", "a2.weird", "b.json"}));
}

TEST_F(FindFilesTest, NothingThereIsAnError) {
  EXPECT_THROW(FindFiles({dir_.path().string()}), Error);
  EXPECT_THROW(FindFiles({At("*.sqlite")}), Error);
  EXPECT_THROW(FindFiles({""}), Error);
}

TEST(NaturallyLess, NumbersAsNumbers) {
  EXPECT_TRUE(NaturallyLess("rank_2", "rank_10"));
  EXPECT_FALSE(NaturallyLess("rank_10", "rank_2"));
  EXPECT_TRUE(NaturallyLess("a2b3", "a2b10"));
  EXPECT_TRUE(NaturallyLess("01", "1"));
  EXPECT_FALSE(NaturallyLess("1", "01"));
  EXPECT_TRUE(NaturallyLess("a", "ab"));
  EXPECT_FALSE(NaturallyLess("x", "x"));
}

}  // namespace
}  // namespace dladvisor
