// SPDX-License-Identifier: Apache-2.0
#include "src/cli/explain_command.h"

#include <fmt/format.h>

#include <memory>

#include "engine/inference/inference.h"
#include "src/cli/explanation_text.h"
#include "src/report/sections/capture_section.h"

namespace dladvisor {
namespace {

struct ExplainOptions {
  std::string rule;
  ProfileOptions profile;
  std::vector<std::string> subject;
};

void RunExplain(const ExplainOptions& options, const CommonOptions& common) {
  const Project project = LoadProject(common.config);
  const KnowledgeBase knowledge = LoadConfiguredRules(common, project);
  const Rule& rule = FindRule(knowledge, options.rule);
  CheckSubject(rule, options.subject);
  Stages stages(common);
  stages.Begin("read");
  const Profile profile = LoadProfiles(options.profile, options.profile.ToAnalysisOptions(project), stages);
  if (profile.is_elsewhere) return;
  Database database = profile.OpenDatabase();
  stages.Begin("infer");
  Advice advice =
      Infer(knowledge, database, {.keep_clear = rule.id, .absent_relations = profile.MissingRelations()});
  TranslateCapture(advice, database);
  stages.Hide();
  fmt::print("{}", ExplanationText(rule, advice, options.subject));
}

}  // namespace

void AddExplainCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Why a rule fired on a profile, or why it did not");
  command->add_option("RULE", options->rule, "Id of the rule")->required();
  options->profile.AddTo(*command);
  options->profile.AddMpiTo(*command);
  command
      ->add_option("--subject", options->subject,
                   "Only subjects with this COLUMN=VALUE; may be given several times")
      ->allow_extra_args(false);
  command->callback([options, &common] { RunExplain(*options, common); });
}

}  // namespace dladvisor
