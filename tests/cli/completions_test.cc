// SPDX-License-Identifier: Apache-2.0
// What the shells offer, asked of the shells themselves.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line.substr(0, line.find('\t')));
  return lines;
}

bool IsInstalled(const std::string& shell) { return test::Run("command -v " + shell).status == 0; }

class Completions : public testing::Test {
 protected:
  Completions() {
    test::WriteFile(folder_.path() / "my profile.sqlite", "");
    for (const std::string shell : {"bash", "zsh", "fish"}) {
      const test::RunResult script = test::Run(test::ProgramPath().string() + " completions " + shell);
      EXPECT_EQ(script.status, 0) << script.err;
      test::WriteFile(folder_.path() / (shell == "zsh" ? "_dladvisor" : "script." + shell), script.out);
    }
  }

  // Runs `script` in the folder, with the program on PATH; expects no message.
  std::vector<std::string> Ask(const std::string& shell, const std::string& script) {
    test::WriteFile(folder_.path() / "ask", script);
    const test::RunResult answer =
        test::Run(fmt::format("cd '{}' && PATH='{}':\"$PATH\" {} ask", folder_.path().string(),
                              test::ProgramPath().parent_path().string(), shell));
    EXPECT_EQ(answer.err, "") << shell;
    return LinesOf(answer.out);
  }

  // What bash offers for the last of `words`.
  std::vector<std::string> Bash(const std::string& words) {
    return Ask("bash", "source script.bash\nCOMP_WORDS=(" + words +
                           ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_dladvisor\n"
                           "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
  }

  std::vector<std::string> Fish(const std::string& line) {
    return Ask("fish", "source script.fish\ncomplete -C'" + line + "'\n");
  }

  const test::ScratchDir folder_;
};

TEST_F(Completions, BashOffersCommandsOptionsChoicesAndNames) {
  EXPECT_THAT(Bash("dladvisor re"), ElementsAre("report"));
  EXPECT_THAT(Bash("dladvisor my"), ElementsAre("my profile.sqlite"));
  EXPECT_THAT(Bash("dladvisor rules ''"), IsSupersetOf({"list", "show", "test"}));
  EXPECT_THAT(Bash("dladvisor rules test --"), ElementsAre("--help", "--filter", "--json"));
  EXPECT_THAT(Bash("dladvisor --quiet report --format ''"), IsSupersetOf({"html", "md", "json", "text"}));
  EXPECT_THAT(Bash("dladvisor report --output x my"), ElementsAre("my profile.sqlite"));
  EXPECT_THAT(Bash("dladvisor explain cpu-la"), ElementsAre("cpu-launch-starvation"));
  EXPECT_THAT(Bash("dladvisor explain cpu-launch-starvation my"), ElementsAre("my profile.sqlite"));
  EXPECT_THAT(Bash("dladvisor facts cuda_gpu_kern"), Contains("cuda_gpu_kern_sum"));
  EXPECT_THAT(Bash("dladvisor query run.sqlite time_led"), ElementsAre("time_ledger"));
}

TEST_F(Completions, FishOffersCommandsOptionsChoicesAndNames) {
  if (!IsInstalled("fish")) GTEST_SKIP() << "fish is not installed";
  EXPECT_THAT(Fish("dladvisor repor"), Contains("report"));
  EXPECT_THAT(Fish("dladvisor rules "), IsSupersetOf({"list", "show", "test"}));
  EXPECT_THAT(Fish("dladvisor rules test --fil"), ElementsAre("--filter"));
  EXPECT_THAT(Fish("dladvisor report --format "), IsSupersetOf({"html", "md", "json", "text"}));
  EXPECT_THAT(Fish("dladvisor explain cpu-launch-s"), Contains("cpu-launch-starvation"));
  EXPECT_THAT(Fish("dladvisor facts time_led"), Contains("time_ledger"));
}

// zsh completes at a prompt alone: here the functions that it completes by print what they are given.
TEST_F(Completions, ZshOffersCommandsOptionsAndNames) {
  if (!IsInstalled("zsh")) GTEST_SKIP() << "zsh is not installed";
  const auto zsh = [&](const std::string& function) {
    return Ask("zsh -f",
               "compdef() { print -r -- $2 by $1; }\n_files() { print files; }\n"
               "_describe() { print -rl -- ${(P)2}; }\n_arguments() { print -rl -- \"$@\"; }\n"
               "source ./_dladvisor\n" +
                   function + "\n:\n");
  };
  EXPECT_THAT(zsh(""), ElementsAre("dladvisor by _dladvisor"));
  EXPECT_THAT(zsh("_dladvisor_rules"), IsSupersetOf({":command:->command", "*::argument:->argument"}));
  EXPECT_THAT(zsh("_dladvisor_report"),
              Contains("--format[html, md, json or text]:TEXT:(html md json text)"));
  EXPECT_THAT(zsh("_dladvisor_report"), Contains(testing::MatchesRegex("\\*:PROFILE\\.\\.\\.:_files")));
  EXPECT_THAT(zsh("_dladvisor_rules_test"), Contains(testing::StartsWith("--filter[")));
  EXPECT_THAT(zsh("compadd() { print -rl -- \"$@\"; }\n"
                  "_arguments() { eval ${${(M)@:#:RULE:*}#:RULE:}; }\n_dladvisor_explain"),
              Contains("cpu-launch-starvation"));
  EXPECT_THAT(zsh("_arguments() { state=command; }\n_dladvisor_rules"),
              Contains("test:Run the tests beside the rules; status 1 where one fails"));
}

TEST_F(Completions, NamesAreThoseOfTheProjectToo) {
  const std::string own = (test::SourceDir() / "examples/team-rules/dladvisor.yaml").string();
  const test::RunResult rules =
      test::Run(test::ProgramPath().string() + " --config '" + own + "' completions rules");
  EXPECT_THAT(LinesOf(rules.out), IsSupersetOf({"cpu-launch-starvation", "one-long-gap"}));
  test::WriteFile(folder_.path() / "dladvisor.yaml", "rules: [");
  EXPECT_THAT(LinesOf(test::Run(fmt::format("cd '{}' && '{}' completions rules", folder_.path().string(),
                                            test::ProgramPath().string()))
                          .out),
              Contains("cpu-launch-starvation"));
}

}  // namespace
}  // namespace dladvisor
