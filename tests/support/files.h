// SPDX-License-Identifier: Apache-2.0
// Where tests find their input: committed files, real profiles, scratch folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dladvisor::test {

std::filesystem::path SourceDir();    // of the checkout
std::filesystem::path ProgramPath();  // the built dladvisor

// Real profiles: $DLADVISOR_DATA, else a folder beside the checkout; empty where there are none. A test that
// needs one calls GTEST_SKIP() with the path's name when it is missing.
std::filesystem::path DataDir();
// Of a profile that a list in tests/corpus names: in the checkout, where the name begins with "examples/",
// else in DataDir().
std::filesystem::path ProfilePath(const std::string& name);
// Files below DataDir()/folder with the extension, sorted.
std::vector<std::filesystem::path> DataFiles(const std::string& folder, const std::string& extension);

// A folder that is removed with its content when this goes out of scope.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string ReadFile(const std::filesystem::path& path);
void WriteFile(const std::filesystem::path& path, const std::string& content);

// Runs a shell command; returns its exit status and what it printed.
struct RunResult {
  int status = -1;
  std::string out, err;
};
RunResult Run(const std::string& command);

}  // namespace dladvisor::test
