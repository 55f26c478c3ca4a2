// SPDX-License-Identifier: Apache-2.0
#include "src/cli/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/inference/inference.h"
#include "src/fleet/merge.h"
#include "src/report/report.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/evidence_place.h"
#include "src/trace/parallel.h"

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

// Those of these relations that are computed when they are first read.
void ComputeSideBySide(const std::set<std::string>& names, const Profile& profile) {
  std::vector<const Relation*> relations;
  for (const auto& relation : profile.events)
    if (names.contains(relation->schema().name)) relations.push_back(relation.get());
  ParallelFor(relations.size(), [&](size_t i) { relations[i]->rows(); });
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
  ComputeSideBySide(RelationsOfReport(diagnosis->database), diagnosis->profile);
  diagnosis->model = BuildReport(diagnosis->database, diagnosis->advice, report);
  stages.Hide();
  return diagnosis;
}

}  // namespace dladvisor
