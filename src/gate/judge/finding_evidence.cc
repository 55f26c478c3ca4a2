// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/finding_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/model/finding_relation.h"
#include "src/gate/model/verdict.h"

namespace dladvisor {
namespace {

constexpr double kMostChance = 0.01;  // that a finding which comes and goes is taken for new

// A run without a number is a job of its own.
size_t Jobs(std::span<const GateRun> runs, std::set<size_t>& jobs) {
  size_t alone = 0;
  for (const GateRun& run : runs) {
    if (run.job)
      jobs.insert(*run.job);
    else
      ++alone;
  }
  return jobs.size() + alone;
}

bool HasIt(const GateRun& run, const Finding& finding) {
  return std::ranges::any_of(run.findings, [&](const Finding& other) {
    return other.rule == finding.rule &&
           IdentityOf(other.rule, SubjectJson(other)) == IdentityOf(finding.rule, SubjectJson(finding));
  });
}

std::string CountOfRuns(size_t count) { return fmt::format("{} run{}", count, count == 1 ? "" : "s"); }

}  // namespace

double ChanceOfAllAndNone(size_t all, size_t none) {
  const double share = static_cast<double>(all) / static_cast<double>(all + none);  // where it is largest
  return std::pow(share, all) * std::pow(1 - share, none);
}

FindingEvidence::FindingEvidence(std::span<const GateRun> baseline, std::span<const GateRun> candidate,
                                 const std::set<std::string>& longer)
    : baseline_(baseline), candidate_(candidate), longer_(longer) {
  std::set<size_t> before, after;
  before_ = Jobs(baseline, before);
  after_ = Jobs(candidate, after);
  const bool together =
      !before.empty() && before == after && before.size() == before_ && after.size() == after_;
  if (together) {
    before_ = baseline.size();
    after_ = candidate.size();
  }
}

bool FindingEvidence::IsSure(const Finding& finding) const {
  if (finding.saves && !finding.saves->bucket.empty()) {
    const std::string& bucket = finding.saves->bucket;
    if (std::ranges::any_of(longer_, [&](const std::string& longer) {
          return longer == bucket || longer.starts_with(bucket + "/");
        }))
      return true;
  }
  const auto has_it = [&](const GateRun& run) { return HasIt(run, finding); };
  return ChanceOfAllAndNone(after_, before_) <= kMostChance && std::ranges::all_of(candidate_, has_it) &&
         std::ranges::none_of(baseline_, has_it);
}

std::string FindingEvidence::Doubt(const Finding& finding) const {
  const auto count = [&](std::span<const GateRun> runs) {
    return std::ranges::count_if(runs, [&](const GateRun& run) { return HasIt(run, finding); });
  };
  return fmt::format(
      "{} is new, and does not fail the gate: it fires in {} of {} of the candidate and in {} of {} of the "
      "baseline, as one that comes and goes may do{}{}.",
      finding.rule, count(candidate_), CountOfRuns(candidate_.size()), count(baseline_),
      CountOfRuns(baseline_.size()),
      after_ < candidate_.size() || before_ < baseline_.size() ? " where runs of one job are alike" : "",
      finding.saves && !finding.saves->bucket.empty()
          ? fmt::format(", and {} takes no longer than noise explains", finding.saves->bucket)
          : "");
}

}  // namespace dladvisor
