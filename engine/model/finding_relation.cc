// SPDX-License-Identifier: Apache-2.0
#include "engine/model/finding_relation.h"

#include <nlohmann/json.hpp>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

struct FindingRow {
  std::string rule, subject, category, outcome, severity, confidence, title;
  std::optional<std::string> problem, recommendation, bucket;
  std::optional<double> saves_low_ns, saves_high_ns;
};

const RelationOf<FindingRow>& Declaration() {
  static const auto relation =
      RelationOf<FindingRow>(
          "finding", "One row per subject of each rule that is not clear; rules that read it run last.")
          .Key("rule", &FindingRow::rule, Unit::kText, "Id of the rule.")
          .Key("subject", &FindingRow::subject, Unit::kText,
               "Key columns of the subject as a JSON object: subject ->> 'NAME' is one of them.")
          .Column("category", &FindingRow::category, Unit::kText, "Folder of the rule.")
          .Column("outcome", &FindingRow::outcome, Unit::kText, "fired, unknown, suppressed or failed.")
          .Column("severity", &FindingRow::severity, Unit::kText, "error, warning or info.")
          .Column("confidence", &FindingRow::confidence, Unit::kText, "high, medium or low.")
          .Column("title", &FindingRow::title, Unit::kText, "Title of the rule.")
          .Column("problem", &FindingRow::problem, Unit::kText,
                  "Its message; NULL where the rule did not fire.")
          .Column("recommendation", &FindingRow::recommendation, Unit::kText,
                  "What to change, one line each; NULL where the rule did not fire.")
          .Column("bucket", &FindingRow::bucket, Unit::kText,
                  "Where the saving comes from; NULL without one.")
          .Column("saves_low_ns", &FindingRow::saves_low_ns, Unit::kNanoseconds,
                  "What fixing it saves at least; NULL without a claim.")
          .Column("saves_high_ns", &FindingRow::saves_high_ns, Unit::kNanoseconds,
                  "What fixing it saves at most, as the rule claims; NULL without a claim.");
  return relation;
}

}  // namespace

const Schema& FindingSchema() { return Declaration().schema(); }

std::string SubjectJson(const Finding& finding) {
  nlohmann::ordered_json subject = nlohmann::ordered_json::object();
  for (const NamedValue& key : finding.subject) {
    auto& field = subject[key.name];
    if (const auto* text = std::get_if<std::string>(&key.value))
      field = ValidUtf8(*text);
    else if (const auto* integer = std::get_if<int64_t>(&key.value))
      field = *integer;
    else if (const auto* real = std::get_if<double>(&key.value))
      field = *real;
  }
  return subject.dump();
}

std::unique_ptr<Table> FindingTable(std::span<const Finding> findings,
                                    const std::map<std::string, std::string>& categories) {
  std::vector<FindingRow> rows;
  for (const Finding& finding : findings) {
    if (finding.outcome == Outcome::kClear) continue;
    FindingRow row;
    row.rule = finding.rule;
    row.subject = SubjectJson(finding);
    if (const auto category = categories.find(finding.rule); category != categories.end())
      row.category = category->second;
    row.outcome = OutcomeName(finding.outcome);
    row.severity = SeverityName(finding.severity);
    row.confidence = ConfidenceName(finding.confidence);
    row.title = finding.title;
    if (!finding.problem.empty()) row.problem = finding.problem;
    for (const std::string& line : finding.recommendation)
      row.recommendation = row.recommendation ? *row.recommendation + "\n" + line : line;
    if (finding.saves) {
      row.bucket = finding.saves->bucket;
      row.saves_low_ns = finding.saves->low_ns;
      row.saves_high_ns = finding.saves->high_ns;
    }
    rows.push_back(std::move(row));
  }
  return std::make_unique<Table>(Declaration().ToTable(rows));
}

}  // namespace dladvisor
