// SPDX-License-Identifier: Apache-2.0
#include "src/cli/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/inference/inference.h"
#include "src/fleet/merge.h"
#include "src/report/report.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/evidence_place.h"

namespace dladvisor {
namespace {

// The report looks for what was left out where something may have been.
static_assert(kMostWithoutScope == kMostWithDetails);

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

}  // namespace

std::unique_ptr<Diagnosis> Diagnose(const ProfileOptions& options, const Project& project,
                                    const KnowledgeBase& knowledge, Stages& stages,
                                    const std::string& explained, ReportFormat format) {
  const AnalysisOptions analysis = options.ToAnalysisOptions(project);
  stages.Begin("read");
  auto diagnosis = std::make_unique<Diagnosis>();
  diagnosis->profile = LoadProfiles(options, analysis, stages);
  if (diagnosis->profile.is_elsewhere) return nullptr;
  diagnosis->database = diagnosis->profile.OpenDatabase();
  stages.Begin("infer");
  diagnosis->advice =
      Infer(knowledge, diagnosis->database,
            {.keep_clear = explained, .absent_relations = diagnosis->profile.MissingRelations()});
  TranslateCapture(diagnosis->advice, diagnosis->database);
  PlaceEvidence(diagnosis->advice, diagnosis->database);
  stages.Begin("report");
  ReportOptions report;
  report.title = TitleOf(diagnosis->profile, options);
  report.banner = UnreadableText(diagnosis->profile);
  report.generator = kProgram;
  report.price = project.price;
  report.shown_rows = RowsShown(format);
  diagnosis->model = BuildReport(diagnosis->database, diagnosis->advice, report);
  stages.Hide();
  return diagnosis;
}

}  // namespace dladvisor
