// SPDX-License-Identifier: Apache-2.0
#include "src/cli/report_command.h"

#include <memory>

#include "src/cli/diagnosis.h"
#include "src/cli/output_format.h"
#include "src/cli/price.h"
#include "src/report/formats/json_summary.h"
#include "src/report/report.h"

namespace dladvisor {
namespace {

struct ReportCommandOptions {
  ProfileOptions profile;
  OutputOptions output;
  bool summary = false;
  std::string price;
};

void RunReport(const ReportCommandOptions& options, const CommonOptions& common) {
  const ReportFormat format = options.output.ToFormat();
  if (options.summary && format != ReportFormat::kJson)
    throw Error("--summary", "is of the JSON alone", "Give --format json, or an output that ends in .json.");
  Project project = LoadProject(common.config);
  if (!options.price.empty()) {
    const auto price = ParsePrice(options.price);
    if (!price)
      throw Error("--price " + options.price, "is no amount with its currency",
                  "Give one such as --price '2.50 EUR'.");
    project.price = *price;
  }
  Stages stages(common);
  stages.Begin("rules");
  const KnowledgeBase knowledge = LoadConfiguredRules(common, project);
  const std::unique_ptr<Diagnosis> diagnosis =
      Diagnose(options.profile, project, knowledge, stages, "", format);
  if (!diagnosis) return;
  if (!options.output.output.empty()) RefuseToOverwrite(options.output.output, diagnosis->profile);
  diagnosis->model.options.text = options.output.Style();
  options.output.Write(options.summary ? RenderJsonSummary(diagnosis->model)
                                       : RenderReport(diagnosis->model, format));
  if (!options.output.output.empty()) SayWritten(options.output.output, common);
}

}  // namespace

void AddReportCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ReportCommandOptions>();
  CLI::App* command = app.add_subcommand("report", "Write the report of a profile, or of a job's ranks");
  options->profile.AddTo(*command);
  options->profile.AddMpiTo(*command);
  options->output.AddTo(*command);
  command->add_flag("--summary", options->summary,
                    "Of the JSON only headline, findings with their evidence, and coverage: below 20 kB");
  command->add_option("--price", options->price,
                      "Of an hour of a GPU, such as '2.50 EUR': savings are told in money per day, too");
  command->callback([options, &common] { RunReport(*options, common); });
}

}  // namespace dladvisor
