// SPDX-License-Identifier: Apache-2.0
#include "src/cli/report_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "engine/base/output_file.h"
#include "engine/inference/inference.h"
#include "src/fleet/merge.h"
#include "src/report/report.h"
#include "src/report/sections/capture_section.h"

namespace dladvisor {
namespace {

// The report looks for what was left out where something may have been.
static_assert(kMostWithoutScope == kMostWithDetails);

const std::map<std::string, ReportFormat> kFormats = {{"html", ReportFormat::kHtml},
                                                      {"md", ReportFormat::kMarkdown},
                                                      {"json", ReportFormat::kJson},
                                                      {"text", ReportFormat::kText}};

struct ReportCommandOptions {
  ProfileOptions profile;
  std::string output, format;
};

// As asked for, else by the output's extension, else terminal text.
ReportFormat ChooseFormat(const ReportCommandOptions& options) {
  if (!options.format.empty()) return kFormats.at(options.format);
  if (options.output.empty()) return ReportFormat::kText;
  const std::string extension = std::filesystem::path(options.output).extension().string();
  if (extension == ".txt") return ReportFormat::kText;
  const auto format = kFormats.find(extension.empty() ? "" : extension.substr(1));
  if (format == kFormats.end())
    throw Error(options.output, "has no extension that gives the format",
                "End it in .html, .md, .json or .txt, or give --format.");
  return format->second;
}

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
  const ReportFormat format = ChooseFormat(options);
  const Project project = LoadProject(common.config);
  const AnalysisOptions analysis = options.profile.ToAnalysisOptions(project);
  Stages stages(common);
  stages.Begin("rules");
  const KnowledgeBase knowledge = LoadConfiguredRules(common, project);
  stages.Begin("read");
  const Profile profile = LoadProfiles(options.profile, analysis, common);
  if (profile.is_elsewhere) return;
  if (!options.output.empty()) RefuseToOverwrite(options.output, profile);
  Database database = profile.OpenDatabase();
  stages.Begin("infer");
  Advice advice = Infer(knowledge, database);
  TranslateCapture(advice, database);
  stages.Begin("report");
  ReportOptions report;
  report.title = TitleOf(profile, options.profile);
  report.banner = UnreadableText(profile);
  report.generator = kProgram;
  report.color = options.output.empty() && isatty(STDOUT_FILENO) != 0;
  const std::string text = RenderReport(BuildReport(database, advice, report), format);
  if (options.output.empty())
    std::fwrite(text.data(), 1, text.size(), stdout);
  else
    WriteFileWhole(options.output, text);
}

}  // namespace

void AddReportCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ReportCommandOptions>();
  CLI::App* command = app.add_subcommand("report", "Write the report of a profile, or of a job's ranks");
  options->profile.AddTo(*command);
  command->add_option("-o,--output", options->output,
                      "File to write (.html, .md, .json, .txt); default: terminal");
  command->add_option("--format", options->format, "html, md, json or text")
      ->check(CLI::IsMember({"html", "md", "json", "text"}));
  command->callback([options, &common] { RunReport(*options, common); });
}

}  // namespace dladvisor
