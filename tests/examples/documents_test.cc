// SPDX-License-Identifier: Apache-2.0
// Runs the commands of README.md and rules/AUTHORING.md as a reader would, and compares what they print with
// what the documents say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

struct Step {
  int line = 0;
  std::string command;
  std::vector<std::string> output;  // "..." stands for any lines
};

// Lines of indented blocks: "    $ COMMAND", then its output.
std::vector<Step> StepsOf(const fs::path& document) {
  std::ifstream in(document);
  std::vector<Step> steps;
  bool in_step = false;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const bool indented = line.starts_with("    ");
    if (indented && line.starts_with("    $ ")) {
      steps.push_back({number, line.substr(6), {}});
      while (steps.back().command.ends_with("\\") && std::getline(in, line)) {
        steps.back().command += "\n" + line;
        ++number;
      }
      in_step = true;
    } else if (in_step && indented) {
      steps.back().output.push_back(line.substr(4));
    } else if (in_step && line.empty()) {
      steps.back().output.emplace_back();  // perhaps within the output
    } else {
      in_step = false;
    }
  }
  for (Step& step : steps)
    while (!step.output.empty() && step.output.back().empty()) step.output.pop_back();
  return steps;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Whether `actual` is `expected`, whose "..." lines stand for any number of lines.
bool Matches(std::span<const std::string> expected, std::span<const std::string> actual) {
  if (expected.empty()) return actual.empty();
  if (expected[0].find_first_not_of(" .") != std::string::npos || expected[0].empty())
    return !actual.empty() && expected[0] == actual[0] && Matches(expected.subspan(1), actual.subspan(1));
  for (size_t skip = 0; skip <= actual.size(); ++skip)
    if (Matches(expected.subspan(1), actual.subspan(skip))) return true;
  return false;
}

class Documents : public testing::TestWithParam<const char*> {};

TEST_P(Documents, CommandsPrintWhatTheDocumentSays) {
  const test::ScratchDir work;
  const fs::path source = test::SourceDir();
  fs::create_directories(work.path() / "out");
  fs::copy(source / "examples", work.path() / "examples", fs::copy_options::recursive);
  const fs::path bin = test::ProgramPath().parent_path();
  const std::string in_work =
      fmt::format("cd '{}' && export PATH='{}':\"$PATH\" && ", work.path().string(), bin.string());
  ASSERT_EQ(test::Run(in_work + "megatron-gpt naive -o out/gpt3_750m_naive.sqlite").status, 0);
  const std::vector<Step> steps = StepsOf(source / GetParam());
  ASSERT_GT(steps.size(), 3u);
  for (const Step& step : steps) {
    SCOPED_TRACE(fmt::format("{}:{}: {}", GetParam(), step.line, step.command));
    const test::RunResult result = test::Run(in_work + "{ " + step.command + "\n} 2>&1");
    const std::vector<std::string> actual = Lines(result.out);
    EXPECT_TRUE(Matches(step.output, actual)) << result.out;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Documents, testing::Values("README.md", "rules/AUTHORING.md"));

}  // namespace
}  // namespace dladvisor
