// SPDX-License-Identifier: Apache-2.0
// The examples for continuous integration: what a service would refuse, and what their scripts do with a
// program that only notes how it was called.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/json_schema.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

fs::path Ci() { return test::SourceDir() / "examples" / "ci"; }

std::vector<fs::path> Files(const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(Ci()))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void ExpectShell(const std::string& script, const std::string& where) {
  const test::ScratchDir folder;
  test::WriteFile(folder.path() / "script", script);
  const test::RunResult result = test::Run(fmt::format("bash -n '{}'", (folder.path() / "script").string()));
  EXPECT_EQ(result.status, 0) << where << ": " << result.err;
}

// Of GitHub an expression is text before the shell sees it; names and branches of strangers must not get
// there.
void CheckSteps(const YAML::Node& steps, bool composite, const std::string& where) {
  ASSERT_TRUE(steps.IsSequence()) << where;
  for (const YAML::Node& step : steps) {
    EXPECT_NE(step["run"].IsDefined(), step["uses"].IsDefined()) << where;
    if (!step["run"]) continue;
    const std::string script = step["run"].as<std::string>();
    ExpectShell(script, where);
    EXPECT_THAT(script, testing::Not(HasSubstr("${{"))) << where;
    if (composite) {
      EXPECT_EQ(step["shell"].as<std::string>(""), "bash") << where;
    }
  }
}

TEST(CiExamples, YamlHasWhatTheServicesAskFor) {
  const auto files = Files(".yml");
  ASSERT_EQ(files.size(), 4U);
  for (const fs::path& file : files) {
    SCOPED_TRACE(file);
    const YAML::Node root = YAML::LoadFile(file.string());
    ASSERT_TRUE(root.IsMap());
    if (const YAML::Node runs = root["runs"]) {
      EXPECT_EQ(runs["using"].as<std::string>(), "composite");
      CheckSteps(runs["steps"], true, file.filename());
      for (const auto& input : root["inputs"]) EXPECT_TRUE(input.second["description"]);
    } else if (const YAML::Node jobs = root["jobs"]) {
      EXPECT_TRUE(root["on"]);
      for (const auto& job : jobs) {
        EXPECT_TRUE(job.second["runs-on"]);
        CheckSteps(job.second["steps"], false, job.first.as<std::string>());
      }
    } else {
      for (const auto& job : root)
        for (const YAML::Node& line : job.second["script"])
          ExpectShell(line.as<std::string>(), job.first.as<std::string>());
    }
  }
}

// `./dev test` puts what the services publish into build/schemas.
fs::path Schemas() { return test::SourceDir() / "build" / "schemas"; }

TEST(CiExamples, FitWhatGitHubAsksForOfWorkflowsAndActions) {
  const fs::path validator = Schemas() / "node_modules" / ".bin" / "action-validator";
  if (!fs::exists(validator)) GTEST_SKIP() << validator << " is not installed";
  const auto validate = [&](const fs::path& file) {
    return test::Run(fmt::format("'{}' '{}'", validator.string(), file.string()));
  };
  const fs::path workflow = Ci() / "github" / "workflow.yml";
  for (const fs::path& file : {workflow, Ci() / "github" / "gate" / "action.yml"}) {
    const test::RunResult result = validate(file);
    EXPECT_EQ(result.status, 0) << file << result.out << result.err;
  }
  const test::ScratchDir folder;
  std::string wrong = test::ReadFile(workflow);
  wrong.replace(wrong.find("runs-on"), 7, "runs_on");
  test::WriteFile(folder.path() / "wrong.yml", wrong);
  EXPECT_NE(validate(folder.path() / "wrong.yml").status, 0);
}

TEST(CiExamples, FitTheSchemaOfGitLabsPipelines) {
  const fs::path schema = Schemas() / "gitlab-ci.json";
  if (!fs::exists(schema)) GTEST_SKIP() << schema << " is not there";
  const std::string pipeline = test::ReadFile(Ci() / "gitlab" / "performance.gitlab-ci.yml");
  std::string wrong = pipeline;
  wrong.replace(wrong.find("script:"), 7, "scripts:");
  const auto problems = test::SchemaProblems(test::ReadFile(schema), {pipeline, wrong});
  if (!problems) GTEST_SKIP() << "python3-jsonschema is not installed";
  EXPECT_THAT(*problems, ElementsAre("", testing::Not("")));
}

TEST(CiExamples, TheWorkflowGivesTheActionInputsThatItHas) {
  const YAML::Node action = YAML::LoadFile(Ci() / "github" / "gate" / "action.yml");
  const YAML::Node workflow = YAML::LoadFile(Ci() / "github" / "workflow.yml");
  size_t uses = 0;
  for (const auto& job : workflow["jobs"])
    for (const YAML::Node& step : job.second["steps"]) {
      if (!step["uses"]) continue;
      // From the working folder the project file is found, and files are named as the repository has them.
      if (step["uses"].as<std::string>().starts_with("actions/checkout") && step["with"]) {
        EXPECT_FALSE(step["with"]["path"]);
      }
      if (!step["uses"].as<std::string>().ends_with("/.github/actions/gate")) continue;
      ++uses;
      for (const auto& input : step["with"])
        EXPECT_TRUE(action["inputs"][input.first.as<std::string>()]) << input.first;
      for (const auto& input : action["inputs"])
        if (input.second["required"].as<bool>(false)) {
          EXPECT_TRUE(step["with"][input.first.as<std::string>()]) << input.first;
        }
    }
  EXPECT_EQ(uses, 2U);
}

// Runs scripts with a `dladvisor` that notes its arguments and ends with a chosen status.
class CiScripts : public testing::Test {
 protected:
  CiScripts() {
    fs::create_directories(folder.path() / "bin");
    test::WriteFile(folder.path() / "bin" / "dladvisor",
                    "#!/usr/bin/env bash\n"
                    "echo \"$*\" >> \"$CALLS\"\n"
                    "while [ $# -gt 0 ]; do\n"
                    "  if [ \"$1\" = --markdown ]; then echo verdict > \"$2\"; fi\n"
                    "  if [ \"$1\" = --json ]; then printf '{\\n \"verdict\": \"%s\",\\n' \"$VERDICT\" > "
                    "\"$2\"; fi\n"
                    "  if [ \"$1\" = --update ]; then touch \"$KEPT/made.digest\"; exit 0; fi\n"
                    "  shift\n"
                    "done\n"
                    "exit \"$STATUS\"\n");
    fs::permissions(folder.path() / "bin" / "dladvisor", fs::perms::owner_all);
    fs::create_directories(folder.path() / "kept");
  }

  int Run(const std::string& command, int status = 0) {
    fs::remove(folder.path() / "calls");
    const test::RunResult result = test::Run(fmt::format(
        "cd '{0}' && export PATH='{0}/bin':\"$PATH\" CALLS='{0}/calls' KEPT='{0}/kept' STATUS={1} && {2}",
        folder.path().string(), status, command));
    out = result.out + result.err;
    return result.status;
  }

  std::vector<std::string> Calls() const {
    std::vector<std::string> calls;
    if (!fs::exists(folder.path() / "calls")) return calls;
    std::istringstream in(test::ReadFile(folder.path() / "calls"));
    for (std::string line; std::getline(in, line);) calls.push_back(line);
    return calls;
  }

  const test::ScratchDir folder;
  std::string out;
};

TEST_F(CiScripts, MeasureInTurn) {
  fs::create_directories(folder.path() / "base");
  fs::create_directories(folder.path() / "head dir");
  const std::string measure = fmt::format("'{}' base 'head dir' runs 2 ", (Ci() / "measure.sh").string());
  ASSERT_EQ(Run(measure +
                R"(bash -c 'echo "$(basename "$PWD") ${PROFILE##*/runs/}" | tee "$PROFILE" >> "$CALLS"')"),
            0)
      << out;
  EXPECT_THAT(Calls(),
              ElementsAre("base base/warm-up.sqlite", "head dir head/warm-up.sqlite", "base base/1.sqlite",
                          "head dir head/1.sqlite", "head dir head/2.sqlite", "base base/2.sqlite"));
  EXPECT_TRUE(fs::exists(folder.path() / "runs" / "head" / "2.sqlite"));
  EXPECT_FALSE(fs::exists(folder.path() / "runs" / "head" / "warm-up.sqlite"));
  EXPECT_EQ(Run(measure + "true"), 3);
  EXPECT_THAT(out, HasSubstr("wrote no"));
  EXPECT_NE(Run(measure + "false"), 0);
  EXPECT_EQ(Run(fmt::format("'{}' base", (Ci() / "measure.sh").string())), 3);
}

TEST_F(CiScripts, TheActionRunsTheGate) {
  const YAML::Node steps = YAML::LoadFile(Ci() / "github" / "gate" / "action.yml")["runs"]["steps"];
  test::WriteFile(folder.path() / "step.sh", steps[0]["run"].as<std::string>());
  for (const char* file : {"b 1.sqlite", "b2.sqlite", "h1.sqlite", "h2.sqlite"})
    test::WriteFile(folder.path() / file, "x");
  test::WriteFile(folder.path() / "env",
                  "export BASELINE=$'b2*\\nnone*\\nb 1*\\n' PROFILES='h*.sqlite' RESULTS=gate "
                  "GITHUB_SHA=0123456789abcdef\n"
                  "export GITHUB_STEP_SUMMARY=summary GITHUB_OUTPUT=output\n");
  const std::string step = "BASH_ENV=env bash --noprofile --norc -eo pipefail step.sh";
  ASSERT_EQ(Run("HISTORY= " + step, 1), 0) << out;
  EXPECT_THAT(Calls(),
              ElementsAre("gate --annotations --junit gate/gate.xml --sarif gate/gate.sarif --markdown "
                          "gate/gate.md --html gate/gate.html --json gate/gate.json --baseline b2.sqlite "
                          "--baseline b 1.sqlite h1.sqlite h2.sqlite"));
  EXPECT_EQ(test::ReadFile(folder.path() / "summary"), "verdict\n");
  EXPECT_EQ(test::ReadFile(folder.path() / "output"), "status=1\n");
  ASSERT_EQ(Run("HISTORY=h.db " + step), 0) << out;
  EXPECT_THAT(Calls()[0], HasSubstr(" --history h.db --label 0123456789ab "));
  ASSERT_EQ(Run("rm output; VERDICT=inconclusive HISTORY= " + step), 0) << out;
  EXPECT_EQ(test::ReadFile(folder.path() / "output"), "status=2\n");
}

// A release lies in a folder that stands for the server.
TEST_F(CiScripts, TheActionInstallsARelease) {
  const YAML::Node steps = YAML::LoadFile(Ci() / "github" / "install" / "action.yml")["runs"]["steps"];
  test::WriteFile(folder.path() / "step.sh", steps[0]["run"].as<std::string>());
  ASSERT_EQ(
      Run("release=server/team/tool/releases/download/v1.2; name=dladvisor-1.2-linux-x86_64; "
          "mkdir -p $release $name/bin && printf '#!/bin/sh\\necho installed\\n' > $name/bin/dladvisor && "
          "chmod +x $name/bin/dladvisor && tar -czf $release/$name.tar.gz $name && "
          "(cd $release && sha256sum $name.tar.gz > SHA256SUMS)"),
      0)
      << out;
  test::WriteFile(
      folder.path() / "env",
      "export REPOSITORY=team/tool VERSION=1.2 GITHUB_SERVER_URL=file://$PWD/server RUNNER_TEMP=$PWD/temp "
      "GITHUB_PATH=$PWD/path GITHUB_OUTPUT=$PWD/output\n");
  const std::string step = "BASH_ENV=env bash --noprofile --norc -eo pipefail step.sh";
  ASSERT_EQ(Run("SHA256= " + step + " && PATH=\"$(cat path):$PATH\" dladvisor"), 0) << out;
  EXPECT_EQ(out, "installed\n");
  EXPECT_THAT(test::ReadFile(folder.path() / "output"), testing::EndsWith("/bin/dladvisor\n"));
  EXPECT_NE(Run("rm -r temp; SHA256=0123 " + step), 0);
  EXPECT_NE(Run("rm -r temp; echo changed >> "
                "server/team/tool/releases/download/v1.2/dladvisor-1.2-linux-x86_64.tar.gz; SHA256= " +
                step),
            0);
  EXPECT_FALSE(fs::exists(folder.path() / "temp/dladvisor/dladvisor-1.2-linux-x86_64"));
}

TEST(CiExamples, TheProjectsOwnWorkflowRunsItsTasks) {
  const YAML::Node workflow = YAML::LoadFile(test::SourceDir() / ".github/workflows/ci.yml");
  std::set<std::string> commands;
  for (const auto& job : workflow["jobs"]) {
    CheckSteps(job.second["steps"], false, job.first.as<std::string>());
    for (const YAML::Node& step : job.second["steps"])
      if (step["run"]) commands.insert(step["run"].as<std::string>());
  }
  EXPECT_THAT(commands, testing::IsSupersetOf({".ci/run", "./dev package"}));
}

// Against a server that speaks the API: 130 comments of others, more than a page.
TEST_F(CiScripts, OneCommentIsUpdated) {
  if (test::Run("python3 --version").status != 0) GTEST_SKIP() << "python3 is not installed";
  const std::string server =
      fmt::format("python3 '{}' bash -c ", (test::SourceDir() / "tests/examples/comment_server.py").string());
  const std::string script = (Ci() / "comment.py").string();
  test::WriteFile(folder.path() / "gate.md", "slower\n");
  test::WriteFile(folder.path() / "gate.json",
                  R"({"exit_status": 0, "verdict": "inconclusive", "headline": "H"})");
  const std::string twice =
      fmt::format("python3 {0} gate.md gate.json && echo faster > gate.md && python3 {0} gate.md", script);
  const std::string github =
      "export GITHUB_API_URL=$API GITHUB_REPOSITORY=team/model GITHUB_TOKEN=secret "
      "GITHUB_REF=refs/pull/7/merge "
      "HEAD_SHA=abc; ";
  ASSERT_EQ(Run(server + "'" + github + twice + "'"), 0) << out;
  EXPECT_THAT(out, HasSubstr(R"("comments": ["<!-- performance gate -->\nfaster\n"])"));
  EXPECT_THAT(out, HasSubstr(R"("checks": ["abc neutral"])"));
  EXPECT_THAT(out, HasSubstr(R"("others": true)"));
  for (const auto& [gate, conclusion] :
       {std::pair("0, \"verdict\": \"regressed\"", "neutral"),
        std::pair("0, \"verdict\": \"pass\"", "success"),
        std::pair("1, \"verdict\": \"regressed\"", "failure"),
        std::pair("2, \"verdict\": \"not comparable\"", "neutral"),
        std::pair("3, \"verdict\": \"not comparable\"", "action_required")}) {
    test::WriteFile(folder.path() / "gate.json",
                    fmt::format("{{\"headline\": \"H\", \"exit_status\": {}}}", gate));
    ASSERT_EQ(Run(server + "'" + github + twice + "'"), 0) << out;
    EXPECT_THAT(out, HasSubstr(fmt::format("\"checks\": [\"abc {}\"]", conclusion)));
  }
  const std::string gitlab =
      "export GITLAB_CI=1 CI_API_V4_URL=$API CI_PROJECT_ID=42 CI_MERGE_REQUEST_IID=7 GITLAB_TOKEN=secret; ";
  ASSERT_EQ(Run(server + "'" + gitlab + twice + "'"), 0) << out;
  EXPECT_THAT(out, HasSubstr(R"("comments": ["<!-- performance gate -->\nfaster\n"])"));
  // What the server refuses, and what is not set, is said.
  EXPECT_NE(Run(server + "'" + github + "export GITHUB_TOKEN=wrong; " + twice + "'"), 0);
  EXPECT_THAT(out, HasSubstr("401"));
  EXPECT_NE(Run("env -u GITHUB_TOKEN GITHUB_REPOSITORY=a/b python3 " + script + " gate.md"), 0);
  EXPECT_THAT(out, HasSubstr("$GITHUB_TOKEN is not set"));
}

TEST_F(CiScripts, TheEpilogueKeepsTheBaselineOfASlowRun) {
  fs::create_directories(folder.path() / "runs");
  const std::string epilogue =
      fmt::format("NAME=made COMMIT=abc '{}' runs", (Ci() / "slurm" / "gate_epilogue.sh").string());
  EXPECT_EQ(Run(epilogue), 3);
  EXPECT_THAT(Calls(), IsEmpty());

  test::WriteFile(folder.path() / "runs" / "0.sqlite", "x");
  ASSERT_EQ(Run(epilogue), 0) << out;  // there is no baseline yet
  ASSERT_EQ(Calls().size(), 1U);
  EXPECT_THAT(Calls()[0], testing::EndsWith("/kept/made.digest --update runs/0.sqlite"));

  test::WriteFile(folder.path() / "runs" / "1.sqlite", "x");  // of another rank
  EXPECT_EQ(Run(epilogue, 1), 1);
  ASSERT_EQ(Calls().size(), 1U);
  EXPECT_THAT(Calls()[0], HasSubstr("--junit runs.gate/gate.xml"));
  EXPECT_THAT(Calls()[0], testing::EndsWith("/kept/made.sqlite --label abc runs"));

  EXPECT_EQ(Run(epilogue, 0), 0);
  EXPECT_EQ(Calls().size(), 2U);
  EXPECT_EQ(Run("ACCEPT=1 " + epilogue, 1), 0);
  EXPECT_EQ(Calls().size(), 2U);
  EXPECT_EQ(Run(epilogue, 2), 0);
  EXPECT_EQ(Calls().size(), 1U);
  EXPECT_EQ(Run("VERDICT=inconclusive " + epilogue), 0);
  EXPECT_EQ(Calls().size(), 1U);
}

// GitLab shows the status 2 as a warning, and so what may be noise; neither becomes the baseline.
TEST_F(CiScripts, GitLabWarnsOfWhatMayBeNoise) {
  const YAML::Node pipeline = YAML::LoadFile(Ci() / "gitlab" / "performance.gitlab-ci.yml");
  EXPECT_EQ(pipeline[".performance"]["allow_failure"]["exit_codes"][0].as<int>(), 2);
  const auto write = [&](const char* name, const char* job) {
    std::string script = "set -e\n";
    for (const YAML::Node& line : pipeline[job]["script"]) script += line.as<std::string>() + "\n";
    test::WriteFile(folder.path() / name, script);
  };
  write("main.sh", "performance:main");
  write("change.sh", "performance:change");
  fs::create_directories(folder.path() / "ci");
  test::WriteFile(folder.path() / "ci" / "profile.sh", "#!/bin/sh\necho x > \"$PROFILE\"\n");
  test::WriteFile(folder.path() / "ci" / "measure.sh", "#!/bin/sh\nmkdir -p $3/base $3/head\n");
  for (const char* script : {"profile.sh", "measure.sh"})
    fs::permissions(folder.path() / "ci" / script, fs::perms::owner_all);
  test::WriteFile(folder.path() / "bin" / "git", "#!/bin/sh\necho git \"$@\" >> \"$CALLS\"\n");
  fs::permissions(folder.path() / "bin" / "git", fs::perms::owner_all);

  const std::string main = "mkdir -p performance && touch performance/main.digest && ACCEPT= bash main.sh";
  EXPECT_EQ(Run(main), 0) << out;
  EXPECT_EQ(Calls().size(), 2U);
  EXPECT_EQ(Run("VERDICT=inconclusive; export VERDICT; " + main), 2) << out;
  EXPECT_EQ(Calls().size(), 1U);
  EXPECT_EQ(Run(main, 1), 1) << out;

  const std::string change = "CI_MERGE_REQUEST_DIFF_BASE_SHA=left bash change.sh";
  EXPECT_EQ(Run(change), 0) << out;
  EXPECT_THAT(Calls()[1], testing::EndsWith("base left"));
  EXPECT_EQ(Run("CI_MERGE_REQUEST_TARGET_BRANCH_SHA=merged VERDICT=inconclusive " + change), 2) << out;
  EXPECT_THAT(Calls()[1], testing::EndsWith("base merged"));
  EXPECT_EQ(Run(change, 1), 1) << out;
}

// What the examples call, so that a renamed option is found here.
TEST(CiExamples, CallTheGateWithItsOptions) {
  const std::set<std::string> known = {"--baseline", "--update", "--junit",       "--sarif",   "--markdown",
                                       "--html",     "--json",   "--annotations", "--history", "--label"};
  size_t calls = 0;
  for (const auto& entry : fs::recursive_directory_iterator(Ci())) {
    if (!entry.is_regular_file() || entry.path().filename() == "README.md") continue;
    std::string text = test::ReadFile(entry.path());
    for (size_t at; (at = text.find("\\\n")) != std::string::npos;) text.erase(at, 2);
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const size_t at = line.find("dladvisor gate ");
      if (at == std::string::npos) continue;
      ++calls;
      std::istringstream words(line.substr(at));
      for (std::string word; words >> word;)
        if (word.starts_with("--")) {
          EXPECT_TRUE(known.contains(word)) << entry.path() << ": " << word;
        }
    }
  }
  EXPECT_GE(calls, 12U);
}

TEST(CiExamples, ShellScripts) {
  const auto scripts = Files(".sh");
  ASSERT_EQ(scripts.size(), 3U);
  for (const fs::path& script : scripts) {
    ExpectShell(test::ReadFile(script), script);
    EXPECT_NE(fs::status(script).permissions() & fs::perms::owner_exec, fs::perms::none) << script;
  }
}

// Baseline, the same program, a regression, its repair, another machine: each with its exit status.
TEST(CiExamples, TheStoryHolds) {
  const test::ScratchDir folder;
  const test::RunResult result =
      test::Run(fmt::format("PATH='{}':\"$PATH\" '{}' '{}'", test::ProgramPath().parent_path().string(),
                            (Ci() / "story.sh").string(), (folder.path() / "story").string()));
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("Gate failed: Step time regressed by"));
  EXPECT_THAT(result.out, HasSubstr("Gate passed, improved"));
}

}  // namespace
}  // namespace dladvisor
