// SPDX-License-Identifier: Apache-2.0
#include "src/cli/report_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "engine/inference/inference.h"
#include "src/cli/output_format.h"
#include "src/fleet/merge.h"
#include "src/report/report.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/evidence_place.h"

namespace dladvisor {
namespace {

// The report looks for what was left out where something may have been.
static_assert(kMostWithoutScope == kMostWithDetails);

struct ReportCommandOptions {
  ProfileOptions profile;
  OutputOptions output;
};

// Files that are not in the report; "" where all are.
std::string UnreadableText(const Profile& profile) {
  constexpr size_t kShown = 3;
  if (profile.unreadable.empty()) return "";
  std::string text = fmt::format("{} of {} files could not be read and are not part of this report:",
                                 profile.unreadable.size(), profile.unreadable.size() + profile.files.size());
  for (size_t i = 0; i < std::min(kShown, profile.unreadable.size()); ++i)
    text += (i > 0 ? "; " : " ") + profile.unreadable[i].substr(0, profile.unreadable[i].find('\n'));
  if (profile.unreadable.size() > kShown) text += "; ...";
  return text;
}

void RunReport(const ReportCommandOptions& options, const CommonOptions& common) {
  const ReportFormat format = options.output.ToFormat();
  const Project project = LoadProject(common.config);
  const AnalysisOptions analysis = options.profile.ToAnalysisOptions(project);
  Stages stages(common);
  stages.Begin("rules");
  const KnowledgeBase knowledge = LoadConfiguredRules(common, project);
  stages.Begin("read");
  const Profile profile = LoadProfiles(options.profile, analysis, common);
  if (profile.is_elsewhere) return;
  if (!options.output.output.empty()) RefuseToOverwrite(options.output.output, profile);
  Database database = profile.OpenDatabase();
  stages.Begin("infer");
  Advice advice = Infer(knowledge, database, {.absent_relations = profile.MissingRelations()});
  TranslateCapture(advice, database);
  PlaceEvidence(advice, database);
  stages.Begin("report");
  ReportOptions report;
  report.title = TitleOf(profile, options.profile);
  report.banner = UnreadableText(profile);
  report.generator = kProgram;
  report.text = options.output.Style();
  options.output.Write(RenderReport(BuildReport(database, advice, report), format));
}

}  // namespace

void AddReportCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ReportCommandOptions>();
  CLI::App* command = app.add_subcommand("report", "Write the report of a profile, or of a job's ranks");
  options->profile.AddTo(*command);
  options->profile.AddMpiTo(*command);
  options->output.AddTo(*command);
  command->callback([options, &common] { RunReport(*options, common); });
}

}  // namespace dladvisor
