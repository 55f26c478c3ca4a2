// SPDX-License-Identifier: Apache-2.0
#include "src/gate/runs/gate_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/inference/inference.h"
#include "engine/model/finding_relation.h"
#include "src/gate/runs/not_measured.h"
#include "src/report/sections/capture_section.h"

namespace dladvisor {
namespace {

std::string WhyAndWhatToRecord(const Finding& finding) {
  const std::string why = WhyUndecided(finding);
  if (finding.capture.empty()) return why;
  return fmt::format("{}; record it with {}", why, fmt::join(finding.capture, " "));
}

}  // namespace

const RunMean* GateRun::Find(const std::string& metric) const {
  const auto found = std::ranges::find(measurements, metric, &Measurement::metric);
  return found == measurements.end() ? nullptr : &found->mean;
}

std::string GateRun::Recording() const {
  const auto varies = std::ranges::find_if(measurements, [](const Measurement& measurement) {
    return measurement.mean.steps >= kFewestSteps && measurement.mean.variance > 0;
  });
  if (varies == measurements.end()) return "";
  return fmt::format("{} {} {} {} {:.17g} {:.17g}", host, start_utc_ns.value_or(0), ranks, varies->metric,
                     varies->mean.mean, varies->mean.variance);
}

bool GateRun::IsUndecided(const std::string& rule, const std::string& subject) const {
  return undecided.contains({rule, subject}) || undecided.contains({rule, ""});
}

GateRun MeasureGateRun(std::string name, const Database& db) {
  GateRun run;
  run.name = std::move(name);
  run.measurements = MeasureRun(db);
  for (const MetricKind& kind : MetricKinds())
    run.not_measured[kind.name] = WhyNotMeasured(db, kind.is_family ? kind.name + "/" : kind.name);
  std::erase_if(run.not_measured, [&](const auto& entry) { return run.Find(entry.first) != nullptr; });
  run.traits = ReadTraits(db);
  if (const auto host = run.traits.values.find("host"); host != run.traits.values.end())
    run.host = host->second;
  if (!run.measurements.empty()) run.start_utc_ns = run.measurements[0].mean.start_utc_ns;
  const ResultSet truncated = db.Query("SELECT max(truncated) FROM profile");
  run.is_incomplete = !truncated.rows.empty() && AsNumber(truncated.rows[0][0]).value_or(0) > 0;
  const ResultSet counts = db.Query("SELECT ranks, steps FROM run");
  if (!counts.rows.empty()) {
    run.ranks = static_cast<size_t>(AsNumber(counts.rows[0][0]).value_or(0));
    run.steps = static_cast<size_t>(AsNumber(counts.rows[0][1]).value_or(0));
  }
  return run;
}

void AddFindings(const KnowledgeBase& knowledge, Database& db,
                 const std::map<std::string, std::string>& missing_relations, GateRun& run) {
  Advice advice = Infer(knowledge, db, {.absent_relations = missing_relations});
  TranslateCapture(advice, db);
  for (Finding& finding : advice.findings) {
    if (finding.outcome == Outcome::kFailed || finding.outcome == Outcome::kUnknown)
      run.undecided.try_emplace({finding.rule, finding.subject.empty() ? "" : SubjectJson(finding)},
                                WhyAndWhatToRecord(finding));
    if (finding.outcome == Outcome::kFired) run.findings.push_back(std::move(finding));
  }
}

GateRun SummarizeRun(std::string name, const KnowledgeBase& knowledge, Database& db,
                     const std::map<std::string, std::string>& missing_relations) {
  GateRun run = MeasureGateRun(std::move(name), db);
  AddFindings(knowledge, db, missing_relations, run);
  return run;
}

}  // namespace dladvisor
