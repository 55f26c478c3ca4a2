// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/capture.h"

#include <string>
#include <vector>

#include "src/importers/words/importer_words.h"

namespace dladvisor {
namespace {

// Old versions of PyTorch recorded them without totals, which the option does not mend.
bool HasMemoryEvents(const ReportModel& model) {
  const ReportTable* recorded = FindTable(model, "recorded");
  return recorded != nullptr && !recorded->rows.rows.empty() &&
         AsNumber(CellOf(*recorded, 0, "memory_events")).value_or(0) > 0;
}

}  // namespace

const CaptureWords& WordsOf(const Database& database) {
  if (database.FindRelation("profile") == nullptr) return CaptureWordsOf("");
  const ResultSet formats = database.Query("SELECT DISTINCT format FROM profile", {}, 2);
  const bool is_one = formats.rows.size() == 1 && !IsNull(formats.rows[0][0]);
  return CaptureWordsOf(is_one ? FormatValue(formats.rows[0][0], Unit::kText) : "");
}

void TranslateCapture(Advice& advice, const Database& database) {
  const CaptureWords& words = WordsOf(database);
  for (Finding& finding : advice.findings) finding.capture = CaptureOptions(finding.capture, words);
}

std::vector<std::string> CaptureFlags(const ReportModel& model) {
  std::vector<std::string> wanted;
  for (const Finding& finding : model.advice->findings)
    if (finding.outcome == Outcome::kUnknown)
      wanted.insert(wanted.end(), finding.capture.begin(), finding.capture.end());
  if (const ReportTable* missing = FindTable(model, "missing_capture"))
    for (size_t row = 0; row < missing->rows.rows.size(); ++row)
      wanted.push_back(FormatValue(CellOf(*missing, row, "missing_capture"), Unit::kText));
  if (HasMemoryEvents(model)) std::erase(wanted, "profile_memory=True");
  return CaptureOptions(wanted, CaptureWordsOf(""));  // in the profiler's words already
}

}  // namespace dladvisor
