// SPDX-License-Identifier: Apache-2.0
#include "src/cli/compare_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/cli/output_format.h"
#include "src/comparison/compare_runs.h"
#include "src/comparison/render/comparison_html.h"
#include "src/comparison/render/comparison_json.h"
#include "src/comparison/render/comparison_markdown.h"
#include "src/comparison/render/comparison_text.h"
#include "src/fleet/runs.h"

namespace dladvisor {
namespace {

struct CompareOptions {
  ProfileOptions profile;
  OutputOptions output;
};

struct LoadedSide {
  RecordedRun run;
  std::vector<std::string> notes;
};

bool AreTheSame(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

// The run of an argument; of repeats the one whose steps take the median time.
LoadedSide LoadSide(const std::string& argument, const char* label, const std::string& output,
                    const AnalysisOptions& analysis, const KnowledgeBase& knowledge) {
  LoadedSide side;
  std::vector<RecordedRun> runs;
  const std::vector<std::string> unreadable =
      LoadRuns({argument}, analysis, [&](const std::string& name, Profile profile) {
        if (!output.empty()) RefuseToOverwrite(output, profile);
        Database database = profile.OpenDatabase();
        runs.push_back(RecordRun(name, knowledge, database, profile.MissingRelations()));
      });
  for (const std::string& message : unreadable)
    side.notes.push_back(fmt::format("Not part of {}: {}", label, InOneLine(message)));
  const size_t count = runs.size();
  // One without steps says nothing of how long they take.
  if (std::ranges::any_of(runs, [](const RecordedRun& run) { return run.step_ns.has_value(); }))
    std::erase_if(runs, [](const RecordedRun& run) { return !run.step_ns; });
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
  std::ranges::nth_element(runs, middle, {}, [](const RecordedRun& run) { return run.step_ns.value_or(0); });
  if (count > 1)
    side.notes.push_back(
        fmt::format("{} holds {} runs; the one with the median step is compared.", label, count));
  side.run = std::move(*middle);
  return side;
}

std::string Render(const RunsCompared& compared, ReportFormat format, TextStyle style) {
  switch (format) {
    case ReportFormat::kHtml:
      return RenderComparisonHtml(compared, kProgram);
    case ReportFormat::kMarkdown:
      return RenderComparisonMarkdown(compared, kProgram);
    case ReportFormat::kJson:
      return RenderComparisonJson(compared, kProgram);
    case ReportFormat::kText:
      break;
  }
  return RenderComparisonText(compared, kProgram, style);
}

void RunCompare(const CompareOptions& options, const CommonOptions& common) {
  const ReportFormat format = options.output.ToFormat();
  const Project project = LoadProject(common.config);
  Stages stages(common);
  stages.Begin("rules");
  const KnowledgeBase knowledge = LoadConfiguredRules(common, project);
  const RunsCompared compared = Compare(options.profile, options.output.output, project, knowledge, stages);
  stages.Hide();
  options.output.Write(Render(compared, format, options.output.Style()));
  if (!options.output.output.empty()) SayWritten(options.output.output, common);
}

}  // namespace

RunsCompared Compare(const ProfileOptions& options, const std::string& output, const Project& project,
                     const KnowledgeBase& knowledge, Stages& stages) {
  const std::vector<std::string>& paths = options.paths;
  if (paths.size() != 2)
    throw Error(
        "compare",
        fmt::format("compares two runs, and {} {} given", paths.size(), paths.size() == 1 ? "is" : "are"),
        "Give one argument for each: a file, a folder of ranks, a digest, or a quoted pattern.");
  const bool same = AreTheSame(paths[0], paths[1]);
  if (same && paths[0] == "-")
    throw Error("compare", "the standard input is one run, and two are compared",
                "Give the other one as a file.");
  const AnalysisOptions analysis = options.ToAnalysisOptions(project);
  stages.Begin("read A");
  LoadedSide before = LoadSide(paths[0], "A", output, analysis, knowledge);
  stages.Begin("read B");
  LoadedSide after = LoadSide(paths[1], "B", output, analysis, knowledge);
  stages.Begin("compare");
  RunsCompared compared = CompareRuns(before.run, after.run, knowledge);
  if (same) compared.notes.push_back("A and B are the same file.");
  for (const LoadedSide* side : {&before, &after})
    compared.notes.insert(compared.notes.end(), side->notes.begin(), side->notes.end());
  return compared;
}

void AddCompareCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Say what changed between two runs, A and B, and why");
  options->profile.AddTo(*command, "A B");
  options->output.AddTo(*command);
  command->footer(
      "Describes two recordings; `dladvisor gate` judges whether a change is more than noise.\nExit "
      "status: 0 compared, 3 bad usage or unreadable input.");
  command->callback([options, &common] { RunCompare(*options, common); });
}

}  // namespace dladvisor
