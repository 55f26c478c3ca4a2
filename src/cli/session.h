// SPDX-License-Identifier: Apache-2.0
// What the commands share: options, the knowledge base, timings.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "src/analysis/context/context.h"
#include "src/cli/project.h"
#include "src/cli/terminal_progress.h"
#include "src/fleet/load_profiles.h"

namespace dladvisor {

extern const char* const kProgram;  // name and version, e.g. "dladvisor 0.1.0"

struct CommonOptions {
  std::vector<std::string> rule_folders;  // layers over the built-in rules and the project's
  std::string config;                     // the project file, or "" for the one found upwards
  bool quiet = false;                     // no progress
  bool stats = false;                     // timings to stderr
};

// Every command registers itself in a file of its own; the callback throws Error.
using Command = void (*)(CLI::App& app, const CommonOptions& common);

// The profile arguments and the options that choose steps.
struct ProfileOptions {
  std::vector<std::string> paths;  // files, folders and patterns
  bool mpi = false;                // the processes of an MPI job read them together
  std::string steps, step_range, pipeline;

  // `names` is what the usage calls the arguments. One that follows the profiles, as in "PROFILE... SQL", is
  // taken off `paths` by TakeLast().
  void AddTo(CLI::App& command, const std::string& names = "PROFILE...");
  // --mpi, of commands that read their profiles together.
  void AddMpiTo(CLI::App& command);
  // Throws Error where there is just one argument; `what` names the missing one.
  std::string TakeLast(const std::string& what);
  // The project's, where the command line says nothing. Throws Error for malformed ones.
  AnalysisOptions ToAnalysisOptions(const Project& project) const;
};

// The project's folders of rules, then those of the command line.
std::vector<std::string> RuleFolders(const CommonOptions& common, const Project& project);

// The built-in rules and the layers over them, without and with what the project sets. Throw RuleErrors.
KnowledgeBase LoadRules(const CommonOptions& common, const Project& project);
KnowledgeBase LoadConfiguredRules(const CommonOptions& common, const Project& project);

// The same without files that are wrong, so that these do not keep the others from being tested.
struct SoundRules {
  KnowledgeBase knowledge;
  std::vector<std::string> problems;  // "file:line:col: ..." of what was left out
  std::set<std::string> left_out;     // names of these rules and relations
};
SoundRules LoadSoundRules(const CommonOptions& common, const Project& project);

// Test files of the same layers.
std::vector<RuleFile> LoadRuleTests(const CommonOptions& common, const Project& project);

// Throws Error, with the nearest id, for one that is not there.
const Rule& FindRule(const KnowledgeBase& knowledge, const std::string& id);

// Built-in rule files as they are written.
std::vector<RuleFile> BuiltInRuleFiles();

// Names the stages of a command: timings with --stats, and progress on a terminal.
class Stages {
 public:
  // `listener` is told each name when its stage begins, and may throw to end the command.
  explicit Stages(const CommonOptions& common, std::function<void(const std::string&)> listener = {});
  ~Stages();
  void Begin(std::string name);
  // How far a stage is.
  void Tell(const std::string& part) const;
  // Leaves the terminal to messages and results, until the next stage.
  void Hide() const;

 private:
  void End();

  const CommonOptions& common_;
  std::function<void(const std::string&)> listener_;
  std::unique_ptr<TerminalProgress> progress_;  // on a terminal
  std::string name_;
  std::chrono::steady_clock::time_point begin_;
};

// Says on a terminal that a file was written.
void SayWritten(const std::string& output, const CommonOptions& common);

// Reads the profiles and tells `stages` of each. With --mpi, on all processes but the first, the command ends
// here: see Profile::is_elsewhere.
Profile LoadProfiles(const ProfileOptions& options, const AnalysisOptions& analysis, const Stages& stages);

// What the profiles are called in a title: their file's name, or what they were named by.
std::string TitleOf(const Profile& profile, const ProfileOptions& options);

// Refuses to write over one of the inputs.
void RefuseToOverwrite(const std::string& output, const Profile& profile);

// Refuses an empty name, without which a gate would pass, or write nothing, where a script forgot to set a
// variable.
CLI::Validator NamesFile();

}  // namespace dladvisor
