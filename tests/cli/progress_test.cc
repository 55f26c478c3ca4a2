// SPDX-License-Identifier: Apache-2.0
// What a command tells of its progress: on a terminal, from its first second on, while it reads too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/files.h"

namespace dladvisor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTrace =
    R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 5,)"
    R"( "args": {"device": 0, "stream": 7}}]})";

// `dladvisor report -` on a terminal of its own, whose input comes from a pipe.
class ReportOnATerminal {
 public:
  explicit ReportOnATerminal(const std::string& output) {
    std::array<int, 2> input{};
    if (pipe(input.data()) != 0) return;
    const std::string program = test::ProgramPath().string();
    child_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (child_ == 0) {
      dup2(input[0], STDIN_FILENO);
      close(input[0]);
      close(input[1]);
      execl(program.c_str(), program.c_str(), "report", "-", "-o", output.c_str(), nullptr);
      _exit(127);
    }
    close(input[0]);
    input_ = input[1];
  }
  ~ReportOnATerminal() {
    if (input_ >= 0) close(input_);
    if (terminal_ >= 0) close(terminal_);
  }
  ReportOnATerminal(const ReportOnATerminal&) = delete;
  ReportOnATerminal& operator=(const ReportOnATerminal&) = delete;

  // What is written until `text` is there, or the program has ended; nothing more after a minute of silence.
  const std::string& ReadUntil(const std::string& text) {
    constexpr int kPatience = 60'000;  // ms
    std::array<char, 4096> buffer{};
    for (pollfd waits{terminal_, POLLIN, 0}; said_.find(text) == std::string::npos;) {
      if (poll(&waits, 1, kPatience) <= 0) break;
      const ssize_t got = read(terminal_, buffer.data(), buffer.size());
      if (got <= 0) break;
      said_.append(buffer.data(), static_cast<size_t>(got));
    }
    return said_;
  }

  void Give(const std::string& input) {
    EXPECT_EQ(write(input_, input.data(), input.size()), static_cast<ssize_t>(input.size()));
    close(std::exchange(input_, -1));
  }

  int Status() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t child_ = -1;
  int terminal_ = -1, input_ = -1;
  std::string said_;
};

TEST(Progress, IsToldFromTheFirstSecondWhileReading) {
  const test::ScratchDir folder;
  const std::string output = (folder.path() / "report.html").string();
  ReportOnATerminal report(output);
  EXPECT_THAT(report.ReadUntil(", 1 s"), HasSubstr("read")) << "before there is anything to read";
  report.Give(kTrace);
  const std::string said = report.ReadUntil("written");
  EXPECT_THAT(said, HasSubstr("\r\x1b[K")) << "the line is emptied";
  EXPECT_THAT(said.substr(said.rfind("\x1b[K")), HasSubstr("report.html written"));
  EXPECT_EQ(report.Status(), 0);
  EXPECT_TRUE(std::filesystem::exists(output));
}

TEST(Progress, IsSilentElsewhere) {
  const test::ScratchDir folder;
  const std::filesystem::path trace = folder.path() / "trace.json";
  test::WriteFile(trace, kTrace);
  const test::RunResult run = test::Run("(sleep 1.3; cat '" + trace.string() + "') | " +
                                        test::ProgramPath().string() + " report - --format text");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace dladvisor
