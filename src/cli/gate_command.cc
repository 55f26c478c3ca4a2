// SPDX-License-Identifier: Apache-2.0
#include "src/cli/gate_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/output_file.h"
#include "src/cli/gate_sides.h"
#include "src/cli/output_format.h"
#include "src/fleet/digest_file.h"
#include "src/fleet/digest_writer.h"
#include "src/fleet/find_files.h"
#include "src/fleet/runs.h"
#include "src/gate/judge/judge.h"
#include "src/gate/model/history.h"
#include "src/gate/render/annotations.h"
#include "src/gate/render/gate_html.h"
#include "src/gate/render/gate_json.h"
#include "src/gate/render/gate_markdown.h"
#include "src/gate/render/gate_text.h"
#include "src/gate/render/junit.h"
#include "src/gate/render/sarif.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

constexpr int kNotComparable = 2, kUnreadable = 3;  // exit status

struct GateOptions {
  ProfileOptions profile;
  std::vector<std::string> baseline;
  bool update = false, annotations = false;
  std::string history, label;
  std::vector<std::string> other_histories;
  std::string junit, sarif, markdown, html, json;
};

std::string Command(const GateOptions& options) {
  std::string command = "dladvisor gate";
  for (const std::string& baseline : options.baseline) command += " --baseline " + baseline;
  command += " --update";
  for (const std::string& path : options.profile.paths) command += " " + path;
  return command;
}

// Whether there is a file, or a folder or pattern with files.
bool IsThere(const std::string& baseline) {
  try {
    return std::ranges::all_of(FindFiles({baseline}), [](const FoundFile& file) {
      std::error_code error;
      return file.path == "-" || fs::exists(file.path, error);
    });
  } catch (const Error&) {
    return false;
  }
}

// What ends the gate with that status.
struct GateEnd {
  int status;
  std::string message;
};

void RefuseWithoutBaseline(const GateOptions& options) {
  for (const std::string& baseline : options.baseline)
    if (!IsThere(baseline))
      throw GateEnd{kNotComparable,
                    fmt::format("{}: there is no baseline yet, and the gate cannot pass without one\n  `{}` "
                                "makes these runs the baseline.",
                                baseline, Command(options))};
}

bool NeedsSteps(const GatePolicy& policy) {
  const MetricPolicy* metric = policy.Find("step.time");
  return metric != nullptr && metric->level >= Level::kWarn;
}

bool HasSteps(const Database& database) {
  const std::vector<Measurement> measured = MeasureRun(database);
  return !measured.empty() && measured[0].metric == "step.time";
}

// "run-12.digest": one that an update wrote.
bool IsOwnName(std::string_view name) {
  if (!name.starts_with("run-") || !name.ends_with(".digest")) return false;
  name.remove_prefix(4);
  name.remove_suffix(7);
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// None where there are none: that is said later.
std::vector<FoundFile> FilesThere(const std::vector<std::string>& given) {
  try {
    return FindFiles(given);
  } catch (const Error&) {
    return {};
  }
}

// What lies in the folder beside digests, and a gate would take for runs of the baseline.
void RefuseProfilesIn(const fs::path& folder) {
  std::vector<std::string> profiles;
  for (const FoundFile& file : FilesThere({folder.string()}))
    if (!IsDigest(file.path)) profiles.push_back(file.path.string());
  if (profiles.empty()) return;
  constexpr size_t kMost = 5;
  const size_t count = profiles.size();
  profiles.resize(std::min(count, kMost));
  throw Error(
      folder.string(),
      fmt::format("holds profiles, which would be compared as runs of the baseline: {}{}",
                  fmt::join(profiles, ", "), count > kMost ? fmt::format(" and {} more", count - kMost) : ""),
      "Give --baseline a folder that holds digests alone, or a new name.");
}

// An update compares nothing, so that there is nothing to write of a comparison.
void RefuseOutputsOfUpdate(const GateOptions& options) {
  std::vector<std::string> given;
  for (const auto& [name, value] :
       {std::pair("--junit", &options.junit), std::pair("--sarif", &options.sarif),
        std::pair("--markdown", &options.markdown), std::pair("--html", &options.html),
        std::pair("--json", &options.json), std::pair("--history", &options.history),
        std::pair("--label", &options.label)})
    if (!value->empty()) given.emplace_back(name);
  if (!options.other_histories.empty()) given.emplace_back("--merge-history");
  if (options.annotations) given.emplace_back("--annotations");
  if (!given.empty())
    throw Error("--update",
                fmt::format("compares nothing, so that {} would not be written", fmt::join(given, ", ")),
                "Leave them out, or run the gate without --update first.");
}

// A digest per run: the file itself for one, numbered ones in a folder for several.
void Update(const GateOptions& options, const AnalysisOptions& analysis, const GatePolicy& policy,
            const Stages& stages) {
  if (options.baseline.size() != 1)
    throw Error("--update", "writes one baseline",
                "Give one --baseline: a file, or a folder for several runs.");
  const fs::path target = options.baseline[0];
  std::error_code error;
  if (target == "-" || (fs::is_regular_file(target, error) && !IsDigest(target)))
    throw Error(target.string(), "is not a baseline, and is not replaced",
                "Give --baseline a digest, or a new name.");
  if (fs::is_directory(target, error)) RefuseProfilesIn(target);
  std::vector<Digest> digests;
  const std::vector<std::string> unreadable =
      LoadRuns(options.profile.paths, analysis, [&](const std::string& name, Profile profile) {
        const Database database = profile.OpenDatabase();
        if (NeedsSteps(policy) && !HasSteps(database))
          throw GateEnd{
              kNotComparable,
              fmt::format(
                  "{}: holds no steady steps, so that nothing could be compared with it\n  Put a range "
                  "around each step (torch.profiler's `prof.step()`, or NVTX), or name the ranges with "
                  "`--step-range REGEX`.",
                  name)};
        digests.push_back(std::move(profile.digest));
      });
  stages.Hide();
  if (!unreadable.empty()) throw Error("--update", unreadable[0]);
  if (digests.size() == 1 && !fs::is_directory(target, error)) {
    WriteDigest(digests[0], target);
    fmt::print("{}: the baseline is 1 run\n", target.string());
    return;
  }
  if (fs::is_regular_file(target, error))
    throw Error(target.string(), fmt::format("is one file, and there are {} runs", digests.size()),
                "Give --baseline a folder, in which each run becomes a digest.");
  fs::create_directories(target, error);
  std::vector<fs::path> written;
  for (size_t i = 0; i < digests.size(); ++i) {
    written.push_back(target / fmt::format("run-{}.digest", i + 1));
    WriteDigest(digests[i], written.back());
  }
  size_t others = 0;  // digests that somebody else put there
  for (const auto& entry : fs::directory_iterator(target, error)) {
    if (std::ranges::find(written, entry.path()) != written.end() || !IsDigest(entry.path())) continue;
    if (IsOwnName(entry.path().filename().string()))  // of a baseline of more runs
      fs::remove(entry.path(), error);
    else
      ++others;
  }
  const size_t runs = digests.size() + others;
  fmt::print("{}: the baseline is {} run{}{}\n", target.string(), runs, runs == 1 ? "" : "s",
             others == 0 ? "" : fmt::format(", {} of them digests that were there before", others));
}

bool IsSameFile(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::exists(a, error) && fs::exists(b, error))
    return fs::is_regular_file(a, error) && fs::equivalent(a, b, error);
  return fs::weakly_canonical(fs::absolute(a, error), error) ==
         fs::weakly_canonical(fs::absolute(b, error), error);
}

void RefuseToOverwrite(const GateOptions& options) {
  std::vector<std::pair<fs::path, std::string>> taken;
  const auto take = [&](const std::string& path, const std::string& what) {
    if (path.empty()) return;
    for (const auto& [other, is] : taken)
      if (IsSameFile(path, other)) throw Error(path, is, "Choose another file for " + what + ".");
    taken.emplace_back(path, "is also what " + what + " writes");
  };
  for (const FoundFile& file : FilesThere(options.baseline))
    taken.emplace_back(file.path, "is the baseline itself");
  for (const FoundFile& file : FilesThere(options.profile.paths))
    taken.emplace_back(file.path, "is the profile itself");
  take(options.history, "--history");
  take(options.junit, "--junit");
  take(options.sarif, "--sarif");
  take(options.markdown, "--markdown");
  take(options.html, "--html");
  take(options.json, "--json");
}

// Writes every output that was asked for; throws the first error after the others are written.
void WriteOutputs(const GateOptions& options, const GateResult& result, const std::string& root) {
  std::exception_ptr first;
  const auto write = [&](const std::string& path, const auto& render) {
    if (path.empty()) return;
    try {
      WriteFileWhole(path, render());
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  };
  write(options.junit, [&] { return RenderGateJUnit(result); });
  write(options.sarif, [&] { return RenderGateSarif(result, root); });
  write(options.markdown, [&] { return RenderGateMarkdown(result); });
  write(options.html, [&] { return RenderGateHtml(result); });
  write(options.json, [&] { return RenderGateJson(result); });
  if (first) std::rethrow_exception(first);
}

void Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// Of the repository that the working folder is in, or else that folder.
fs::path CheckoutRoot() {
  std::error_code error;
  const fs::path here = fs::current_path();
  for (fs::path folder = here;; folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return folder;
    if (folder == folder.root_path()) return here;
  }
}

// Says in every output that nothing was judged, so that none of an earlier gate is taken for this one's.
void WriteNotJudged(const GateOptions& options, int status, const std::string& message) {
  GateResult result = NotJudged(status, message);
  result.generator = kProgram;
  const std::string root = CheckoutRoot().string();
  if (options.annotations) Print(RenderGateAnnotations(result, root));
  try {
    WriteOutputs(options, result, root);
  } catch (const Error& error) {  // what ends the gate matters more
    fmt::print(stderr, "warning: {}\n", error.what());
  }
}

struct Judged {
  GateSides sides;
  GateResult result;
};

void AddToHistory(const GateOptions& options, const Judged& judged) {
  const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  for (const GateRun& run : judged.sides.candidate)
    AppendToHistory(options.history, ToHistory(run, judged.result.verdict, options.label, now));
}

// A path that a side has several times is read once.
void SayRepeated(const std::vector<std::string>& given, std::vector<std::string>& notes) {
  std::map<fs::path, size_t> times;
  for (const std::string& path : given)
    if (++times[fs::path(path).lexically_normal()] == 2)
      notes.push_back(fmt::format("{} is given several times, and counts as one run.", path));
}

void RefuseWithoutHistory(const GateOptions& options) {
  if (!options.history.empty()) return;
  if (!options.other_histories.empty())
    throw Error("--merge-history", "adds to a history", "Give it with --history.");
  if (!options.label.empty())
    throw Error("--label", "is what a history calls the runs", "Give it with --history.");
}

// The history is written, too, so that a gate whose history cannot be is not one that passed.
Judged Judge(const GateOptions& options, const CommonOptions& common, Stages& stages) {
  RefuseWithoutHistory(options);
  RefuseWithoutBaseline(options);
  Project project = LoadProject(common.config);
  project.gate.today = Today();
  const AnalysisOptions analysis = options.profile.ToAnalysisOptions(project);
  stages.Begin("rules");
  const KnowledgeBase knowledge = LoadConfiguredRules(common, project);
  std::vector<HistoryRun> history;
  for (const std::string& other : options.other_histories) MergeHistory(options.history, other);
  if (!options.history.empty()) history = ReadHistory(options.history);
  stages.Begin("runs");
  GivenRuns given = ReadGivenRuns(options.baseline, options.profile.paths, analysis, knowledge, history);
  stages.Begin("judge");
  Judged judged;
  judged.sides = ToSides(std::move(given.baseline), std::move(given.candidate));
  SayRepeated(options.baseline, judged.sides.notes);
  SayRepeated(options.profile.paths, judged.sides.notes);
  judged.result = JudgeRuns(judged.sides, knowledge, project.gate, history);
  judged.result.generator = kProgram;
  judged.result.policy_file = project.path;
  if (judged.result.verdict != Verdict::kPass) {
    RunsCompared compared = given.compare();
    judged.result.changes = std::move(compared.reasons);
    if (judged.result.changes.empty()) judged.result.changes = {std::move(compared.headline)};
  }
  RefuseUnreadable(given.unreadable_baseline, judged.result.baseline, judged.result);
  RefuseUnreadable(given.unreadable_candidate, judged.result.candidate, judged.result);
  if (project.gate.reports_only) ReportOnly(judged.result);
  if (!options.history.empty()) AddToHistory(options, judged);
  return judged;
}

void RunGate(const GateOptions& options, const CommonOptions& common) {
  Stages stages(common);
  RefuseToOverwrite(options);
  Judged judged;
  try {
    judged = Judge(options, common, stages);
  } catch (const GateEnd& end) {
    WriteNotJudged(options, end.status, end.message);
    throw;
  } catch (const std::exception& error) {
    WriteNotJudged(options, kUnreadable, error.what());
    throw;
  }
  const fs::path root = CheckoutRoot();
  const fs::path folder = fs::proximate(fs::current_path(), root);
  judged.result.folder = folder == "." ? "" : folder.string();
  std::string text = RenderGateText(judged.result, {TerminalShowsColor(), TerminalColumns()});
  if (options.annotations) text += RenderGateAnnotations(judged.result, root.string());
  stages.Hide();
  Print(text);
  stages.Begin("write");
  WriteOutputs(options, judged.result, root.string());
  if (judged.result.exit_status != 0) throw CLI::RuntimeError(judged.result.exit_status);
}

void RunUpdate(const GateOptions& options, const CommonOptions& common) {
  RefuseOutputsOfUpdate(options);
  Stages stages(common);
  const Project project = LoadProject(common.config);
  stages.Begin("update");
  Update(options, options.profile.ToAnalysisOptions(project), project.gate, stages);
}

// Whether histories are merged, and nothing is judged.
bool MergesAlone(const GateOptions& options) {
  const bool writes = options.update || options.annotations || !options.label.empty() ||
                      !options.junit.empty() || !options.sarif.empty() || !options.markdown.empty() ||
                      !options.html.empty() || !options.json.empty();
  return !options.history.empty() && !options.other_histories.empty() && options.baseline.empty() &&
         options.profile.paths.empty() && !writes;
}

void RunMerge(const GateOptions& options) {
  size_t added = 0;
  for (const std::string& other : options.other_histories) added += MergeHistory(options.history, other);
  fmt::print("{}: {} run{} added, {} in all\n", options.history, added, added == 1 ? "" : "s",
             ReadHistory(options.history).size());
}

void Run(const GateOptions& options, const CommonOptions& common) {
  if (MergesAlone(options)) return RunMerge(options);
  if (options.baseline.empty()) throw CLI::RequiredError("--baseline");
  if (options.profile.paths.empty()) throw CLI::RequiredError("PROFILE");
  try {
    options.update ? RunUpdate(options, common) : RunGate(options, common);
  } catch (const GateEnd& end) {
    fmt::print(stderr, "dladvisor: {}\n", VisibleLines(end.message));
    throw CLI::RuntimeError(end.status);
  }
}

}  // namespace

void AddGateCommand(CLI::App& app, const CommonOptions& common) {
  const CLI::Validator names_file = NamesFile();
  auto options = std::make_shared<GateOptions>();
  CLI::App* command =
      app.add_subcommand("gate", "Fail where runs are slower than a baseline, by more than noise");
  command
      ->add_option(
          "--baseline", options->baseline,
          "What to compare with: a digest, a folder of digests, or profiles; several times for repeats. "
          "Required, unless histories alone are merged")
      ->type_name("FILE")
      ->check(names_file)
      ->allow_extra_args(false);
  options->profile.AddTo(*command);
  command->get_option("PROFILE...")->required(false);  // and checked, unless histories alone are merged
  command->add_flag("--update", options->update, "Make the profiles the baseline, and compare nothing");
  command
      ->add_option("--history", options->history,
                   "SQLite file that every gate adds its runs to: shows slow creep, and how much runs differ")
      ->type_name("FILE")
      ->check(names_file);
  command
      ->add_option("--merge-history", options->other_histories,
                   "History whose runs are added to --history first, e.g. of a branch that was merged; "
                   "without profiles this is all that is done")
      ->type_name("FILE")
      ->check(names_file)
      ->allow_extra_args(false);
  command->add_option("--label", options->label, "What the history calls these runs, e.g. the commit");
  command->add_option("--junit", options->junit, "JUnit XML to write")->type_name("FILE")->check(names_file);
  command->add_option("--sarif", options->sarif, "SARIF 2.1.0 to write")
      ->type_name("FILE")
      ->check(names_file);
  command
      ->add_option("--markdown", options->markdown,
                   "Markdown to write, e.g. $GITHUB_STEP_SUMMARY or a comment's text")
      ->type_name("FILE")
      ->check(names_file);
  command->add_option("--html", options->html, "Report of the comparison to write")
      ->type_name("FILE")
      ->check(names_file);
  command->add_option("--json", options->json, "The whole result to write")
      ->type_name("FILE")
      ->check(names_file);
  command->add_flag("--annotations", options->annotations, "Print GitHub annotations, too");
  command->footer(
      "Exit status: 0 passed or inconclusive, 1 failed, 2 not comparable or no baseline, 3 bad usage or "
      "unreadable input.");
  command->callback([options, &common] { Run(*options, common); });
}

}  // namespace dladvisor
