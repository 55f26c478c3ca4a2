// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/written_report.h"

#include <gtest/gtest.h>

#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "src/report/report.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/evidence_place.h"

namespace dladvisor::test {

WrittenReport WriteReport(const Profile& profile) {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  Database database = profile.OpenDatabase();
  Advice advice = Infer(knowledge, database);
  TranslateCapture(advice, database);
  PlaceEvidence(advice, database);
  const ReportModel model = BuildReport(database, advice, {});
  WrittenReport written{RenderReport(model, ReportFormat::kText),
                        RenderReport(model, ReportFormat::kMarkdown),
                        RenderReport(model, ReportFormat::kHtml),
                        {}};
  for (const Finding& finding : advice.findings) {
    EXPECT_NE(finding.outcome, Outcome::kFailed) << finding.rule << ": " << finding.error;
    if (finding.outcome == Outcome::kFired) written.fired.insert(finding.rule);
  }
  return written;
}

}  // namespace dladvisor::test
