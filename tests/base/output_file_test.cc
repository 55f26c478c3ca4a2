// SPDX-License-Identifier: Apache-2.0
#include "engine/base/output_file.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

size_t FilesIn(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(WriteFileWhole, ReplacesAndLeavesNothingAside) {
  test::ScratchDir scratch;
  const fs::path path = scratch.path() / "report.html";
  WriteFileWhole(path, "old");
  WriteFileWhole(path, "new");
  EXPECT_EQ(test::ReadFile(path), "new");
  EXPECT_EQ(FilesIn(scratch.path()), 1u);
}

TEST(WriteFileWhole, RefusesFoldersAndMissingParents) {
  test::ScratchDir scratch;
  EXPECT_THROW(WriteFileWhole(scratch.path(), "x"), Error);
  EXPECT_THROW(WriteFileWhole(scratch.path() / "none" / "report.html", "x"), Error);
  EXPECT_EQ(FilesIn(scratch.path()), 0u);
}

TEST(WriteFileWhole, KeepsTheOldFileWhenTheNewOneCannotBePlaced) {
  test::ScratchDir scratch;
  const fs::path target = scratch.path() / "target";
  fs::create_directories(target / "inside");
  EXPECT_THROW(WriteFileWhole(target, "x"), Error);
  EXPECT_TRUE(fs::is_directory(target / "inside"));
  EXPECT_EQ(FilesIn(scratch.path()), 1u);
}

}  // namespace
}  // namespace dladvisor
