// SPDX-License-Identifier: Apache-2.0
#include "src/cli/session.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "engine/base/text.h"
#include "engine/rules/rule_image.h"
#include "src/analysis/pipeline/pipeline_name.h"
#include "src/analysis/summary/profile.h"

namespace dladvisor {

const char* const kProgram = "dladvisor " DLADVISOR_VERSION;

// Generated from rules/ by the build.
std::span<const EmbeddedFile> EmbeddedRules();
std::span<const EmbeddedFile> EmbeddedRuleImage();  // one file

namespace {

// "3:107", "3:", ":107" or "3".
std::optional<std::pair<int64_t, int64_t>> ParseSteps(std::string_view text) {
  const auto parse = [](std::string_view number, int64_t& value) {
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    return error == std::errc() && end == number.data() + number.size();
  };
  const size_t colon = text.find(':');
  const std::string_view from = text.substr(0, colon),
                         to = colon == std::string_view::npos ? from : text.substr(colon + 1);
  int64_t first = std::numeric_limits<int64_t>::min(), last = std::numeric_limits<int64_t>::max();
  if ((from.empty() && to.empty()) || (!from.empty() && !parse(from, first)) ||
      (!to.empty() && !parse(to, last)) || first > last)
    return std::nullopt;
  return std::pair(first, last);
}

bool HoldsLogsOnly(const Profile& profile) {
  const std::vector<ProfileRow> rows = RowsOf(profile.digest, ProfileRelation());
  return !rows.empty() && std::ranges::all_of(rows, [](const ProfileRow& row) {
    return row.telemetry_samples + row.training_lines + row.serving_lines + row.program_parts +
                   row.summary_rows >
               0 &&
           row.kernels == 0 && row.api_calls == 0;
  });
}

}  // namespace

void ProfileOptions::AddTo(CLI::App& command, const std::string& names) {
  command
      .add_option(names, paths,
                  "Profiles, logs or digests: files, folders, patterns, or - for the standard input; "
                  "`dladvisor --help` lists what can be read")
      ->required();
  command
      .add_option("--steps", steps,
                  "Analyse only these steps: 3:107, both included; 3: from 3 on; :107 up to 107; 3 alone; "
                  "none: the whole profile at once")
      ->type_name("RANGE");
  command
      .add_option(
          "--step-range", step_range,
          "Regular expression of the range around a whole step, e.g. 'iteration (\\d+)'; a group reads "
          "its number")
      ->type_name("REGEX");
  command
      .add_option(
          "--pipeline", pipeline,
          "Regular expression of the ranges of a pipeline's passes, e.g. "
          "'(?P<phase>fwd|bwd|wgrad)_mb(?P<micro_batch>\\d+)_chunk(?P<chunk>\\d+)'; the first letter of the "
          "phase decides: f, b, w or o")
      ->type_name("REGEX");
}

void ProfileOptions::AddMpiTo(CLI::App& command) {
  command.add_flag(
      "--mpi", mpi,
      "Started by mpirun or srun: each process reads a part of the profiles, the first one goes on");
}

AnalysisOptions ProfileOptions::ToAnalysisOptions(const Project& project) const {
  AnalysisOptions options;
  options.hardware = project.hardware;
  const std::string& range = steps.empty() ? project.steps : steps;
  const std::string& pattern = step_range.empty() ? project.step_range : step_range;
  const auto where = [&](bool own, const char* option, const char* key, const std::string& value) {
    return own ? fmt::format("--{} {}", option, value) : fmt::format("{}: {}: {}", project.path, key, value);
  };
  if (!range.empty()) {
    options.whole = range == "none";
    if (!options.whole) options.steps = ParseSteps(range);
    if (!options.whole && !options.steps)
      throw Error(where(!steps.empty(), "steps", "steps", range), "is not a range of steps",
                  "Give FIRST:LAST, e.g. 3:107, with one of them left out, one number, or none for the whole "
                  "profile.");
  }
  if (!pattern.empty()) {
    RE2::Options quiet;
    quiet.set_log_errors(false);
    const RE2 compiled(pattern, quiet);
    if (!compiled.ok())
      throw Error(where(!step_range.empty(), "step-range", "step_range", pattern),
                  "is not a valid regular expression: " + compiled.error(),
                  "RE2 syntax, e.g. 'iteration (\\d+)'.");
    options.step_range = pattern;
  }
  if (const std::string& passes = pipeline.empty() ? project.pipeline : pipeline; !passes.empty()) {
    if (const std::string problem = CheckPipelinePattern(passes); !problem.empty())
      throw Error(where(!pipeline.empty(), "pipeline", "pipeline", passes), problem,
                  "RE2 syntax, e.g. '(?P<phase>fwd|bwd)_mb(?P<micro_batch>\\d+)'.");
    options.pipeline = passes;
  }
  return options;
}

std::vector<std::string> RuleFolders(const CommonOptions& common, const Project& project) {
  std::vector<std::string> folders = project.rule_folders;
  for (const std::string& folder : common.rule_folders) {
    std::error_code error;
    if (std::ranges::none_of(folders, [&](const std::string& other) {
          return std::filesystem::equivalent(folder, other, error);
        }))
      folders.push_back(folder);
  }
  return folders;
}

KnowledgeBase LoadRules(const CommonOptions& common, const Project& project) {
  KnowledgeBase knowledge = EmptyKnowledge();
  ReadRuleImage(EmbeddedRuleImage()[0].content, knowledge);
  for (const std::string& folder : RuleFolders(common, project)) knowledge.AddLayer(ReadRuleFolder(folder));
  return knowledge;
}

SoundRules LoadSoundRules(const CommonOptions& common, const Project& project) {
  SoundRules sound{EmptyKnowledge(), {}, {}};
  ReadRuleImage(EmbeddedRuleImage()[0].content, sound.knowledge);
  for (const std::string& folder : RuleFolders(common, project)) {
    std::vector<RuleFile> files = ReadRuleFolder(folder);
    for (bool is_first = true; !files.empty(); is_first = false) {
      try {
        KnowledgeBase next = sound.knowledge;
        next.AddLayer(files);
        sound.knowledge = std::move(next);
        break;
      } catch (const RuleErrors& errors) {
        const size_t before = files.size();
        std::erase_if(files, [&](const RuleFile& file) {
          const bool is_wrong = std::ranges::any_of(errors.problems(), [&](const std::string& problem) {
            return problem.starts_with(file.path + ":");
          });
          if (!is_wrong) return false;
          sound.left_out.insert(std::filesystem::path(file.path).stem().string());
          if (!is_first) sound.problems.push_back(file.path + ":1:1: needs a rule that is wrong itself");
          return true;
        });
        if (is_first)
          sound.problems.insert(sound.problems.end(), errors.problems().begin(), errors.problems().end());
        if (files.size() == before) throw;
      }
    }
  }
  return sound;
}

KnowledgeBase LoadConfiguredRules(const CommonOptions& common, const Project& project) {
  KnowledgeBase knowledge = LoadRules(common, project);
  knowledge.Configure(project.settings);
  return knowledge;
}

std::vector<RuleFile> LoadRuleTests(const CommonOptions& common, const Project& project) {
  std::vector<RuleFile> files = EmbeddedRuleFiles(EmbeddedRules(), /*tests=*/true);
  for (const std::string& folder : RuleFolders(common, project))
    for (RuleFile& file : ReadRuleFolder(folder, /*tests=*/true)) files.push_back(std::move(file));
  return files;
}

const Rule& FindRule(const KnowledgeBase& knowledge, const std::string& id) {
  if (const Rule* rule = knowledge.Find(id)) return *rule;
  if (const auto off = knowledge.off().find(id); off != knowledge.off().end())
    throw Error("rule " + id, "is off", "It was switched off in " + off->second + ".");
  std::vector<std::string> ids;
  for (const Rule& rule : knowledge.rules()) ids.push_back(rule.id);
  throw Error("rule " + id, "is not there" + DidYouMean(id, ids), "`dladvisor rules list` shows all rules.");
}

std::vector<RuleFile> BuiltInRuleFiles() { return EmbeddedRuleFiles(EmbeddedRules()); }

namespace {

bool ShowsProgress(const CommonOptions& common) { return !common.quiet && isatty(STDERR_FILENO) != 0; }

}  // namespace

Stages::Stages(const CommonOptions& common, std::function<void(const std::string&)> listener)
    : common_(common),
      listener_(std::move(listener)),
      progress_(ShowsProgress(common) ? std::make_unique<TerminalProgress>() : nullptr),
      begin_(std::chrono::steady_clock::now()) {}

Stages::~Stages() { End(); }

void Stages::Begin(std::string name) {
  End();
  if (listener_) listener_(name);
  name_ = std::move(name);
  begin_ = std::chrono::steady_clock::now();
  if (progress_) progress_->Show(name_);
}

void Stages::Tell(const std::string& part) const {
  if (listener_) listener_(part);
  if (progress_) progress_->Show(part);
}

void Stages::Hide() const {
  if (progress_) progress_->Hide();
}

void Stages::End() {
  if (!name_.empty() && common_.stats) {
    Hide();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin_;
    fmt::print(stderr, "{:<12} {:8.1f} ms\n", name_, took.count());
  }
  name_.clear();
}

std::string ProfileOptions::TakeLast(const std::string& what) {
  if (paths.size() < 2) throw Error(what, "is missing", "Give the profiles first, then " + what + ".");
  std::string last = std::move(paths.back());
  paths.pop_back();
  return last;
}

void SayWritten(const std::string& output, const CommonOptions& common) {
  if (ShowsProgress(common)) fmt::print(stderr, "{} written\n", output);
}

Profile LoadProfiles(const ProfileOptions& options, const AnalysisOptions& analysis, const Stages& stages) {
  // Until the program ends: MPI may be started and ended once.
  static const std::unique_ptr<Team> team = options.mpi ? MpiTeam() : std::make_unique<Alone>();
  Profile profile = LoadProfiles(options.paths, analysis, *team, [&](size_t done, size_t total) {
    stages.Tell(fmt::format("read {} of {} files", done, total));
  });
  stages.Hide();
  if (!options.steps.empty() && !analysis.whole && !profile.is_elsewhere && HoldsLogsOnly(profile))
    throw Error(
        "--steps " + options.steps, "chooses none of a log's iterations",
        "Leave it out: all iterations of a log are analysed. `dladvisor query LOG training_log` lists "
        "them.");
  return profile;
}

std::string TitleOf(const Profile& profile, const ProfileOptions& options) {
  const Table* profiles = profile.digest.Find("profile");
  const size_t count = std::max(profile.files.size(), profiles == nullptr ? 0 : profiles->rows());
  std::filesystem::path named = options.paths[0];
  if (!named.has_filename()) named = named.parent_path();
  std::string name = named.filename().string();
  if (profile.files.size() == 1)
    name =
        profile.files[0] == "-" ? "standard input" : std::filesystem::path(profile.files[0]).stem().string();
  return count < 2 ? name : fmt::format("{} ({} profiles)", name, count);
}

void RefuseToOverwrite(const std::string& output, const Profile& profile) {
  for (const std::string& input : profile.files) {
    std::error_code ignored;
    if (std::filesystem::equivalent(output, input, ignored))
      throw Error(output, "is the profile itself", "Choose another file for the output.");
  }
}

CLI::Validator NamesFile() {
  return {[](const std::string& path) {
            return std::string(path.empty()
                                   ? "no file is named; an unset variable of the shell leaves nothing "
                                     "between the quotes"
                                   : "");
          },
          ""};
}

}  // namespace dladvisor
