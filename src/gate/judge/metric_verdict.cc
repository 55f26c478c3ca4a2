// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/metric_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "src/gate/judge/trend.h"
#include "src/gate/runs/metric.h"

namespace dladvisor {
namespace {

const std::string kStepTime = "step.time";
constexpr std::string_view kLedgerTime = "ledger.time/";

// A bucket, op or kernel that did not run.
RunMean Nothing() {
  RunMean mean;
  mean.steps = 1;
  mean.independent_steps = 1;
  return mean;
}

// The metric of every run; nothing where a run does not have it.
std::vector<RunMean> MeansOf(std::span<const GateRun> runs, const std::string& metric,
                             bool absent_is_nothing) {
  std::vector<RunMean> means;
  for (const GateRun& run : runs) {
    if (const RunMean* mean = run.Find(metric))
      means.push_back(*mean);
    else if (absent_is_nothing)
      means.push_back(Nothing());
    else
      return {};
    means.back().job = run.job;
  }
  return means;
}

std::string TitleOf(const MetricKind& kind, const std::string& metric) {
  return kind.is_family ? metric.substr(kind.name.size() + 1) : kind.title;
}

class MetricJudge {
 public:
  MetricJudge(std::span<const GateRun> baseline, std::span<const GateRun> candidate, const GatePolicy& policy,
              const std::vector<HistoryRun>& history)
      : baseline_(baseline), candidate_(candidate), policy_(policy), history_(history) {}

  MetricVerdicts Run() {
    CollectMetrics();
    MetricVerdicts verdicts;
    for (const auto& [metric, policy] : gating_)
      verdicts.metrics.push_back(Compared(metric, policy, gating_.size()));
    // What is listed by name and no run has is not a pass either.
    for (const MetricPolicy& policy : policy_.metrics)
      if (policy.level >= Level::kWarn && !gating_policies_.contains(&policy))
        verdicts.metrics.push_back(Absent(policy));
    for (const std::string& metric : explaining_)
      verdicts.explanation.push_back(Compared(metric, nullptr, 1));
    for (const auto* of : {&verdicts.metrics, &verdicts.explanation})
      for (const MetricVerdict& verdict : *of)
        if (verdict.metric.starts_with(kLedgerTime) && verdict.verdict == Verdict::kRegressed)
          verdicts.longer.insert(verdict.metric.substr(kLedgerTime.size()));
    KeepLargest(verdicts.explanation);
    return verdicts;
  }

 private:
  void CollectMetrics() {
    std::set<std::string> seen;
    for (const auto& runs : {candidate_, baseline_})
      for (const GateRun& run : runs)
        for (const Measurement& measurement : run.measurements) {
          if (!seen.insert(measurement.metric).second) continue;
          const MetricPolicy* policy = policy_.Find(measurement.metric);
          if (policy != nullptr && policy->level == Level::kOff) continue;
          if (policy == nullptr || policy->level == Level::kExplain) {
            explaining_.push_back(measurement.metric);
          } else {
            gating_.emplace_back(measurement.metric, policy);
            gating_policies_.insert(policy);
          }
        }
    std::ranges::stable_sort(gating_, {},
                             [&](const auto& entry) { return entry.second - policy_.metrics.data(); });
  }

  // What runs of the same program differ by: as declared, else as the history shows, else assumed. Ops and
  // the like vary as the step does.
  RunNoise NoiseOf(const std::string& metric, const MetricPolicy* policy) const {
    if (policy != nullptr && policy->run_to_run)
      return NoiseOfFloor(*policy->run_to_run, RunNoise::Source::kDeclared);
    const std::string setting = candidate_[0].traits.Setting();
    if (const auto learned = LearnNoise(history_, setting, metric)) return *learned;
    const MetricPolicy* steps = policy_.Find(kStepTime);
    if (metric != kStepTime && steps != nullptr && steps->run_to_run)
      return NoiseOfFloor(*steps->run_to_run, RunNoise::Source::kDeclared);
    return NoiseOfFloor(kAssumedFloor, RunNoise::Source::kAssumed);
  }

  MetricVerdict Compared(const std::string& metric, const MetricPolicy* policy, size_t compared) const {
    const MetricKind& kind = *FindMetricKind(metric);
    MetricVerdict verdict;
    verdict.metric = metric;
    verdict.title = TitleOf(kind, metric);
    verdict.unit = kind.unit;
    verdict.lower_is_better = kind.lower_is_better;
    if (policy != nullptr) {
      verdict.level = policy->level;
      verdict.max = policy->max;
      verdict.min = policy->min;
    }
    const std::vector<RunMean> before = MeansOf(baseline_, metric, kind.absent_is_nothing),
                               after = MeansOf(candidate_, metric, kind.absent_is_nothing);
    if (before.empty() || after.empty()) {
      verdict.verdict = Verdict::kNotComparable;
      verdict.why = WhyAbsent(kind, metric);
      if (policy != nullptr) verdict.not_gated = WhyNotGated(*policy, metric);
      if (!after.empty())
        verdict.candidate = MeanOfRuns(after);  // which alone tells whether it keeps a budget
      if (verdict.candidate) CheckBudget(verdict);
      return verdict;
    }
    ComparisonOptions options;
    options.alpha = policy_.false_alarms / static_cast<double>(std::max<size_t>(compared, 1));
    options.lower_is_better = kind.lower_is_better;
    options.gates = policy != nullptr;
    options.aggregation = policy_.aggregate;
    if (policy != nullptr) {
      options.regression = policy->regression;
      options.floor = policy->floor;
      options.aggregation = policy->aggregate.value_or(policy_.aggregate);
    }
    const RunComparison comparison = Compare(before, after, NoiseOf(metric, policy), options);
    verdict.verdict = comparison.verdict;
    verdict.baseline = comparison.baseline;
    verdict.candidate = comparison.candidate;
    verdict.change = comparison.change;
    verdict.low = comparison.low;
    verdict.high = comparison.high;
    verdict.fails_from = comparison.fails_from;
    verdict.detectable = comparison.detectable;
    verdict.noise = comparison.noise;
    verdict.noise_is_assumed = comparison.noise_is_assumed;
    verdict.has_groups = !comparison.groups.empty();
    verdict.why = comparison.why;
    CheckBudget(verdict);
    if (policy != nullptr) verdict.not_gated = WhyNotGated(*policy, metric);
    return verdict;
  }

  // Which side does not have it, and what would make it known.
  std::string WhyAbsent(const MetricKind& kind, const std::string& metric) const {
    const auto lacks = [&](const GateRun& run) { return run.Find(metric) == nullptr; };
    const auto in_candidate = std::ranges::find_if(candidate_, lacks);
    const bool of_candidate = in_candidate != candidate_.end();
    const GateRun& run = of_candidate ? *in_candidate : *std::ranges::find_if(baseline_, lacks);
    const bool none = std::ranges::all_of(candidate_, lacks) && std::ranges::all_of(baseline_, lacks);
    const size_t runs = (of_candidate ? candidate_ : baseline_).size();
    std::string text = none ? "No run has it."
                            : fmt::format("{} of the {} does not have it.", runs == 1 ? "The run" : "A run",
                                          of_candidate ? "candidate" : "baseline");
    if (const auto why = run.not_measured.find(kind.name); why != run.not_measured.end())
      text += " " + why->second;
    return text;
  }

  std::string WhyNotGated(const MetricPolicy& policy, const std::string& metric) const {
    if (policy.level != Level::kError) return "";
    if (!policy.gated) return policy.reason;
    const Waiver* waiver = policy_.WaiverOfMetric(metric);
    return waiver == nullptr ? "" : fmt::format("waived until {}: {}", waiver->until, waiver->reason);
  }

  static void CheckBudget(MetricVerdict& verdict) {
    const auto text = [&](double value) { return FormatValue(value, verdict.unit); };
    if (verdict.max && *verdict.candidate > *verdict.max) {
      verdict.verdict = Verdict::kRegressed;
      verdict.why =
          fmt::format("It is {}, over the budget of {}.", text(*verdict.candidate), text(*verdict.max));
    } else if (verdict.min && *verdict.candidate < *verdict.min) {
      verdict.verdict = Verdict::kRegressed;
      verdict.why =
          fmt::format("It is {}, under the least of {}.", text(*verdict.candidate), text(*verdict.min));
    }
  }

  MetricVerdict Absent(const MetricPolicy& policy) const {
    const MetricKind& kind = *FindMetricKind(policy.pattern);
    MetricVerdict verdict;
    verdict.metric = policy.pattern;
    verdict.title = TitleOf(kind, policy.pattern);
    verdict.unit = kind.unit;
    verdict.lower_is_better = kind.lower_is_better;
    verdict.verdict = Verdict::kNotComparable;
    verdict.level = policy.level;
    verdict.max = policy.max;
    verdict.min = policy.min;
    verdict.why = WhyAbsent(kind, policy.pattern);
    verdict.not_gated = WhyNotGated(policy, policy.pattern);
    return verdict;
  }

  // By kind, the largest change first; of a family only the first.
  static void KeepLargest(std::vector<MetricVerdict>& verdicts) {
    const auto kind = [](const MetricVerdict& verdict) { return FindMetricKind(verdict.metric); };
    const auto change = [](const MetricVerdict& verdict) {
      return verdict.baseline ? std::abs(*verdict.candidate - *verdict.baseline) : 0;
    };
    std::ranges::stable_sort(verdicts, [&](const MetricVerdict& a, const MetricVerdict& b) {
      return std::pair(kind(a), -change(a)) < std::pair(kind(b), -change(b));
    });
    std::map<const MetricKind*, size_t> count;
    std::erase_if(verdicts, [&](const MetricVerdict& verdict) {
      return kind(verdict)->is_family && (change(verdict) == 0 || ++count[kind(verdict)] > kMostExplanations);
    });
  }

  const std::span<const GateRun> baseline_, candidate_;
  const GatePolicy& policy_;
  const std::vector<HistoryRun>& history_;
  std::vector<std::pair<std::string, const MetricPolicy*>> gating_;
  std::set<const MetricPolicy*> gating_policies_;
  std::vector<std::string> explaining_;
};

}  // namespace

MetricVerdicts JudgeMetrics(std::span<const GateRun> baseline, std::span<const GateRun> candidate,
                            const GatePolicy& policy, const std::vector<HistoryRun>& history) {
  return MetricJudge(baseline, candidate, policy, history).Run();
}

}  // namespace dladvisor
