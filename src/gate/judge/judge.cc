// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/model/finding_relation.h"
#include "src/gate/judge/metric_verdict.h"
#include "src/gate/judge/rule_verdict.h"
#include "src/gate/judge/trend.h"
#include "src/gate/runs/metric.h"
#include "src/render/change_text.h"

namespace dladvisor {
namespace {

constexpr int64_t kNow = std::numeric_limits<int64_t>::max();  // later than any run of the history
constexpr std::string_view kLedger = "ledger.time/";
constexpr double kLeastOfCause =
    0.25;  // of the step's change: what the finding that is named as its cause saves

// What makes an inconclusive gate conclusive.
constexpr const char* kMeasureNoise =
    "Measure both sides in one job, in turns, three times each or more; or keep a `--history`, which learns "
    "how "
    "much runs differ; or declare it in dladvisor.yaml: `gate: {metrics: {step.time: {run_to_run: 5 %}}}`.";

constexpr const char* kCompareGroups =
    "Compare a run of each group, `dladvisor compare RUN RUN`: what differs between them (machine, "
    "placement, "
    "input, a setting) is not noise.";

Side SideOf(std::span<const GateRun> runs) {
  Side side;
  for (const GateRun& run : runs) {
    side.runs.push_back(run.name);
    side.steps += run.steps;
    if (run.is_incomplete) side.incomplete.push_back(run.name);
  }
  side.ranks = runs[0].ranks;
  return side;
}

bool Fails(const MetricVerdict& metric, const GatePolicy& policy) {
  if (metric.level != Level::kError || !metric.not_gated.empty()) return false;
  return metric.verdict == Verdict::kRegressed ||
         (metric.verdict == Verdict::kInconclusive && policy.fail_on_inconclusive);
}

// "Step time regressed by 33.7 % (117 ms to 156 ms)".
std::string Sentence(const MetricVerdict& metric, std::string_view verb) {
  std::string text = fmt::format("{} {}", metric.title, verb);
  if (metric.change) text += " by " + DistanceText(*metric.change);
  if (metric.baseline && metric.candidate)
    text += fmt::format(" ({} to {})", FormatValue(*metric.baseline, metric.unit),
                        FormatValue(*metric.candidate, metric.unit));
  return text;
}

class GateJudge {
 public:
  GateJudge(std::span<const GateRun> baseline, std::span<const GateRun> candidate, const GatePolicy& policy)
      : baseline_(baseline), candidate_(candidate), policy_(policy) {}

  GateResult Run(const KnowledgeBase& knowledge, const std::vector<HistoryRun>& history) {
    result_.baseline = SideOf(baseline_);
    result_.candidate = SideOf(candidate_);
    CompareSides();
    MetricVerdicts metrics = JudgeMetrics(baseline_, candidate_, policy_, history);
    result_.rules = JudgeRules(baseline_, candidate_, knowledge, policy_, metrics.longer);
    result_.metrics = std::move(metrics.metrics);
    result_.explanation = std::move(metrics.explanation);
    if (!history.empty()) JudgeTrends(history);
    SayWaivers(knowledge);
    Decide();
    SayIncomplete();
    return std::move(result_);
  }

 private:
  void CompareSides() {
    std::vector<Traits> before, after;
    for (const GateRun& run : baseline_) before.push_back(run.traits);
    for (const GateRun& run : candidate_) after.push_back(run.traits);
    result_.differences = CompareTraits(before, after, policy_.allow);
  }

  // Of the metrics that gate or warn, with this run as the last one.
  void JudgeTrends(std::vector<HistoryRun> history) {
    const std::string setting = candidate_[0].traits.Setting();
    for (const GateRun& run : candidate_) history.push_back(ToHistory(run, Verdict::kPass, "this run", kNow));
    for (const MetricVerdict& metric : result_.metrics) {
      const MetricPolicy* policy = policy_.Find(metric.metric);
      if (FindMetricKind(metric.metric)->is_family || policy == nullptr) continue;
      ComparisonOptions options;
      options.alpha = policy_.false_alarms;
      options.regression = policy->regression;
      options.floor = policy->floor;
      options.lower_is_better = metric.lower_is_better;
      Trend trend = TrendOf(history, setting, metric.metric, options);
      if (trend.points.size() < 2) continue;
      trend.level = policy_.trend;
      if (trend.level != Level::kOff) result_.trends.push_back(std::move(trend));
      if (policy->merges)
        if (auto creep =
                CreepOver(*policy->merges, policy->creep, history, setting, metric.metric, options)) {
          creep->level = policy->gated && policy_.WaiverOfMetric(metric.metric) == nullptr ? policy->level
                                                                                           : Level::kExplain;
          result_.trends.push_back(std::move(*creep));
        }
    }
  }

  void Decide() {
    const auto blocks = std::ranges::find_if(result_.differences, &Difference::blocks);
    if (blocks != result_.differences.end()) return DecideNotComparable();
    const auto failed = std::ranges::find_if(
        result_.metrics, [&](const MetricVerdict& metric) { return Fails(metric, policy_); });
    const auto broken = std::ranges::find_if(result_.rules, [](const RuleVerdict& rule) {
      return rule.level == Level::kError && rule.verdict == Verdict::kRegressed;
    });
    const auto creep = std::ranges::find_if(result_.trends, [](const Trend& trend) {
      return trend.level == Level::kError && trend.verdict == Verdict::kRegressed;
    });
    if (failed != result_.metrics.end()) return DecideFailed(*failed);
    if (broken != result_.rules.end())
      return Fail(fmt::format("{} ({}): {}", broken->title, broken->rule, broken->problem.text),
                  broken->change == RuleVerdict::Change::kNotEvaluated
                      ? broken->recommendation[0]
                      : fmt::format("`dladvisor explain {} PROFILE` shows why it fires.", broken->rule));
    if (creep != result_.trends.end()) return Fail(creep->why, "Look at what changed since then.");
    if (const auto absent = Absent(); !absent.empty()) return DecideAbsent(absent);
    DecidePassed();
  }

  void SayWaivers(const KnowledgeBase& knowledge) {
    for (const Waiver& waiver : policy_.waivers) {
      const std::string& what = waiver.rule.empty() ? waiver.metric : waiver.rule;
      if (waiver.until < policy_.today) {
        result_.notes.push_back(
            fmt::format("The waiver of {} expired on {} ({}).", what, waiver.until, waiver.reason));
      } else if (!waiver.rule.empty() && knowledge.Find(waiver.rule) == nullptr &&
                 !knowledge.off().contains(waiver.rule)) {
        result_.notes.push_back(fmt::format("There is a waiver of {}, and no such rule.", what));
      } else if (std::ranges::any_of(result_.rules, [&](const RuleVerdict& rule) {
                   return rule.rule == waiver.rule && rule.change != RuleVerdict::Change::kGone;
                 })) {
        result_.notes.push_back(fmt::format("{} is waived until {}: {}.", what, waiver.until, waiver.reason));
      }
    }
  }

  // Of a profile that ends early the last steps, and what was recorded last, are missing.
  void SayIncomplete() {
    std::vector<std::string> names;
    for (const Side* side : {&result_.baseline, &result_.candidate})
      names.insert(names.end(), side->incomplete.begin(), side->incomplete.end());
    if (!names.empty())
      result_.headline =
          fmt::format("{} {} incomplete, the end is missing: copy or export again. {}",
                      fmt::join(names, ", "), names.size() == 1 ? "is" : "are", result_.headline);
  }

  void DecideNotComparable() {
    result_.verdict = Verdict::kNotComparable;
    result_.exit_status = 2;
    for (MetricVerdict& metric : result_.metrics) {
      metric.verdict = Verdict::kNotComparable;
      metric.why = "The sides are different things.";
      metric.noise.clear();
      metric.low = metric.high = metric.fails_from = metric.detectable = std::nullopt;
    }
    result_.explanation.clear();
    std::erase_if(result_.rules, [](const RuleVerdict& rule) { return rule.level != Level::kError; });
    std::vector<std::string> names, titles;
    for (const Difference& difference : result_.differences)
      if (difference.blocks) {
        names.push_back(difference.trait);
        titles.push_back(fmt::format("{} (baseline: {}; candidate: {})", WithinSentence(difference.title),
                                     difference.baseline, difference.candidate));
      }
    result_.headline =
        fmt::format("The runs cannot be compared: they differ in {}.", fmt::join(titles, ", "));
    result_.next_step = fmt::format(
        "Record a new baseline with `dladvisor gate --baseline BASELINE --update PROFILE...`, or allow the "
        "difference in dladvisor.yaml: `gate: {{allow: [{}]}}`.",
        fmt::join(names, ", "));
  }

  // What a side lacks of what gates.
  std::vector<const MetricVerdict*> Absent() const {
    std::vector<const MetricVerdict*> absent;
    for (const MetricVerdict& metric : result_.metrics)
      if (metric.verdict == Verdict::kNotComparable && metric.level == Level::kError &&
          metric.not_gated.empty())
        absent.push_back(&metric);
    return absent;
  }

  void DecideAbsent(const std::vector<const MetricVerdict*>& absent) {
    result_.verdict = Verdict::kNotComparable;
    result_.exit_status = 2;
    std::vector<std::string> titles, reasons, settings;
    for (const MetricVerdict* metric : absent) {
      titles.push_back(metric->title);
      reasons.push_back(absent.size() == 1 ? metric->why : fmt::format("{}: {}", metric->title, metric->why));
      settings.push_back(fmt::format("{}: explain", metric->metric));
    }
    result_.headline =
        fmt::format("{} cannot be compared. {}", fmt::join(titles, ", "), fmt::join(reasons, " "));
    result_.next_step = fmt::format(
        "Record what is missing, or do not gate on it: `gate: {{metrics: {{{}}}}}` in dladvisor.yaml.",
        fmt::join(settings, ", "));
  }

  void Fail(std::string headline, std::string next_step) {
    for (const MetricVerdict* metric : Absent())
      result_.notes.push_back(fmt::format("{} cannot be compared, either. {}", metric->title, metric->why));
    result_.verdict = Verdict::kRegressed;
    result_.exit_status = 1;
    result_.headline = std::move(headline);
    result_.next_step = std::move(next_step);
  }

  void DecideFailed(const MetricVerdict& metric) {
    if (metric.verdict == Verdict::kInconclusive)
      return Fail(fmt::format("{} is inconclusive, which this project counts as a failure. {}", metric.title,
                              metric.why),
                  metric.has_groups ? kCompareGroups : kMeasureNoise);
    std::string headline = Sentence(metric, "regressed");
    const bool over_budget = MissesBudget(metric);
    if (over_budget) headline = fmt::format("{}: {}", metric.title, WithinSentence(metric.why));
    const std::string cause = over_budget ? "" : Cause();
    if (!over_budget) headline = fmt::format("{}{}", headline, cause.empty() ? "." : ": " + cause);
    Fail(std::move(headline), NextStepOf(Culprit()));
  }

  void DecidePassed() {
    const auto first = [&](Verdict verdict) {
      return std::ranges::find_if(result_.metrics, [&](const MetricVerdict& metric) {
        return metric.verdict == verdict && metric.level == Level::kError;
      });
    };
    const auto end = result_.metrics.end();
    if (const auto metric = first(Verdict::kInconclusive); metric != end) {
      result_.verdict = Verdict::kInconclusive;
      result_.headline =
          metric->baseline && metric->candidate
              ? fmt::format("{}, {} to {}: {}", metric->title, FormatValue(*metric->baseline, metric->unit),
                            FormatValue(*metric->candidate, metric->unit), WithinSentence(metric->why))
              : fmt::format("{}: {}", metric->title, WithinSentence(metric->why));
      result_.headline += IfNoNoise(*metric);
      result_.next_step = metric->has_groups ? kCompareGroups : kMeasureNoise;
    } else if (const auto better = first(Verdict::kImproved); better != end) {
      result_.verdict = Verdict::kImproved;
      result_.headline = Sentence(*better, "improved") + CauseOfImprovement() + ".";
      result_.next_step =
          "Keep it: `dladvisor gate --baseline BASELINE --update PROFILE...` makes these runs the baseline.";
    } else if (const auto step = first(Verdict::kPass); step != end) {
      result_.headline = fmt::format(
          "No regression. {}: {} to {}{}.", step->title, FormatValue(*step->baseline, step->unit),
          FormatValue(*step->candidate, step->unit), step->change ? ", " + ChangeText(*step->change) : "");
      if (step->noise_is_assumed) {
        result_.headline += " But little was tested: " + step->noise + ".";
        result_.next_step = kMeasureNoise;
      }
    } else {
      result_.headline = "No metric gates, and no rule that is an error fires.";
    }
    Warn();
  }

  // What does not fail but should be read.
  void Warn() {
    for (const MetricVerdict& metric : result_.metrics)
      if (metric.verdict == Verdict::kRegressed) {
        std::string what = Sentence(metric, "regressed");
        if (MissesBudget(metric)) {
          what = fmt::format("{}: {}", metric.title, WithinSentence(metric.why));
          if (what.ends_with('.')) what.pop_back();
        }
        result_.notes.push_back(fmt::format("{}; this does not fail the gate{}.", what,
                                            metric.not_gated.empty() ? "" : ": " + metric.not_gated));
      }
    for (const RuleVerdict& rule : result_.rules)
      if (rule.change == RuleVerdict::Change::kNotEvaluated)
        result_.notes.push_back(fmt::format(
            "Rule {} is an error and was not evaluated; `gate: {{on_unknown: fail}}` makes that fail.",
            rule.rule));
    for (const RuleVerdict& rule : result_.rules)
      if (!rule.doubt.empty()) result_.notes.push_back(rule.doubt);
    for (const Trend& trend : result_.trends)
      if (trend.verdict == Verdict::kRegressed) result_.notes.push_back(trend.why);
  }

  // The bucket of the ledger that grew most, or shrank most, per step.
  const MetricVerdict* LargestBucket(double sign) const {
    const MetricVerdict* largest = nullptr;
    const auto growth = [&](const MetricVerdict& metric) {
      return sign * (*metric.candidate - *metric.baseline);
    };
    for (const MetricVerdict& metric : result_.explanation)
      if (metric.metric.starts_with(kLedger) && metric.baseline && metric.candidate && growth(metric) > 0 &&
          (largest == nullptr || growth(metric) > growth(*largest)))
        largest = &metric;
    return largest;
  }

  // The finding that names the cause: of those of one side alone the one that surely saves most of the
  // change; else one whose saving comes from the bucket that changed most.
  const RuleVerdict* RuleOf(const MetricVerdict* bucket, RuleVerdict::Change side) const {
    const RuleVerdict* best = nullptr;
    const auto savings = [](const RuleVerdict& rule) {
      return std::pair(rule.saves_low_ns.value_or(0), rule.saves_high_ns.value_or(0));
    };
    const double change = ChangeOfStep();
    for (const RuleVerdict& rule : result_.rules)
      if (rule.change == side && rule.severity != Severity::kInfo &&
          savings(rule).second >= kLeastOfCause * change &&
          (best == nullptr || savings(rule) > savings(*best)))
        best = &rule;
    if (best != nullptr || bucket == nullptr) return best;
    for (const RuleVerdict& rule : result_.rules)
      if ((rule.change == side || rule.change == RuleVerdict::Change::kStill) &&
          Claims(rule, bucket->metric.substr(kLedger.size())) &&
          (best == nullptr || savings(rule) > savings(*best)))
        best = &rule;
    return best;
  }

  // By how many ns a step's time differs; more than any saving where that is not known.
  double ChangeOfStep() const {
    for (const auto* metrics : {&result_.metrics, &result_.explanation})
      for (const MetricVerdict& metric : *metrics)
        if (metric.metric == "step.time" && metric.baseline && metric.candidate)
          return std::abs(*metric.candidate - *metric.baseline);
    return std::numeric_limits<double>::infinity();
  }

  // Whether a root finding of the rule saves time of that bucket, or of what it is part of.
  bool Claims(const RuleVerdict& rule, const std::string& bucket) const {
    const auto claims = [&](const GateRun& run) {
      return std::ranges::any_of(run.findings, [&](const Finding& finding) {
        return finding.rule == rule.rule && !finding.caused_by && finding.saves &&
               !finding.saves->bucket.empty() &&
               (finding.saves->bucket == bucket || bucket.starts_with(finding.saves->bucket + "/") ||
                bucket.starts_with(finding.saves->bucket + "-"));
      });
    };
    return std::ranges::any_of(baseline_, claims) || std::ranges::any_of(candidate_, claims);
  }

  const RuleVerdict* Culprit() const { return RuleOf(LargestBucket(1), RuleVerdict::Change::kNew); }

  // "idle/input takes 36.2 ms more; The GPU waits for data (data-loading)".
  std::string Cause() const {
    const MetricVerdict* bucket = LargestBucket(1);
    if (bucket == nullptr) return "";
    std::string text = fmt::format("{} takes {} more per step", bucket->title,
                                   FormatValue(*bucket->candidate - *bucket->baseline, Unit::kNanoseconds));
    if (const RuleVerdict* rule = Culprit())
      text += fmt::format(
          "; {} {} ({})",
          rule->change == RuleVerdict::Change::kNew ? "new finding:" : "finding:", rule->title, rule->rule);
    return text + ".";
  }

  std::string CauseOfImprovement() const {
    const MetricVerdict* bucket = LargestBucket(-1);
    if (bucket == nullptr) return "";
    std::string text = fmt::format(": {} takes {} less per step", bucket->title,
                                   FormatValue(*bucket->baseline - *bucket->candidate, Unit::kNanoseconds));
    if (const RuleVerdict* rule = RuleOf(bucket, RuleVerdict::Change::kGone);
        rule != nullptr && rule->change == RuleVerdict::Change::kGone)
      text += fmt::format("; gone: {} ({})", rule->title, rule->rule);
    return text;
  }

  // " If it is not noise: ..." of a metric that may have changed: what grew, or shrank where it became
  // better.
  std::string IfNoNoise(const MetricVerdict& metric) const {
    if (!metric.baseline || !metric.candidate) return "";
    const double worse = (metric.lower_is_better ? 1 : -1) * (*metric.candidate - *metric.baseline);
    const std::string cause = worse < 0 ? CauseOfImprovement() : Cause();
    if (cause.empty()) return "";
    return " If it is not noise" + (worse < 0 ? cause + "." : ": " + cause);
  }

  static std::string NextStepOf(const RuleVerdict* rule) {
    if (rule != nullptr && !rule->recommendation.empty()) return rule->recommendation[0];
    return "`dladvisor report PROFILE` says where the time goes.";
  }

  const std::span<const GateRun> baseline_, candidate_;
  const GatePolicy& policy_;
  GateResult result_;
};

}  // namespace

std::vector<HistoryRun> EarlierRuns(const std::vector<HistoryRun>& history, std::span<const GateRun> runs) {
  std::vector<HistoryRun> earlier;
  for (const HistoryRun& entry : history)
    if (entry.recording.empty() ||
        std::ranges::none_of(runs, [&](const GateRun& run) { return run.Recording() == entry.recording; }))
      earlier.push_back(entry);
  return earlier;
}

GateResult JudgeRuns(const GateSides& sides, const KnowledgeBase& knowledge, const GatePolicy& policy,
                     const std::vector<HistoryRun>& history) {
  const std::vector<HistoryRun> earlier = EarlierRuns(history, sides.candidate);
  GateResult result = GateJudge(sides.baseline, sides.candidate, policy).Run(knowledge, earlier);
  if (const size_t again = history.size() - earlier.size(); again > 0)
    result.notes.insert(
        result.notes.begin(),
        again == 1 ? "The history has this recording already: it counts once, and is not added again."
                   : fmt::format("The history has {} of these recordings already: they count once, and are "
                                 "not added again.",
                                 again));
  result.notes.insert(result.notes.begin(), sides.notes.begin(), sides.notes.end());
  return result;
}

void RefuseUnreadable(const std::vector<std::string>& messages, Side& side, GateResult& result) {
  if (messages.empty()) return;
  side.unreadable = messages.size();
  for (const std::string& message : messages) result.notes.push_back(InOneLine(message));
  // Also where they cannot be compared, which may be for want of the files: allowing that would hide it.
  result.verdict = Verdict::kNotComparable;
  result.exit_status = 2;
  result.headline =
      fmt::format("{} of the files cannot be read, so that this is no verdict on all of them. {}",
                  messages.size(), result.headline);
  result.next_step = "Give files that can be read; the notes name those that cannot.";
}

// Services fail a build for a failure in JUnit or an error in SARIF, too: all of it becomes a warning.
void ReportOnly(GateResult& result) {
  if (result.exit_status == 0) return;
  const auto warns = [](auto& verdicts) {
    for (auto& verdict : verdicts) verdict.level = std::min(verdict.level, Level::kWarn);
  };
  warns(result.metrics);
  warns(result.rules);
  warns(result.trends);
  result.notes.push_back(
      "dladvisor.yaml has `gate: {mode: report}`: nothing fails; `mode: gate` makes it fail.");
  result.headline = fmt::format("This is reported, and fails nothing yet: {}", result.headline);
  result.exit_status = 0;
}

GateResult NotJudged(int exit_status, const std::string& message) {
  GateResult result;
  result.verdict = Verdict::kNotComparable;
  result.exit_status = exit_status;
  const size_t hint = std::min(message.find("\n  "), message.size());  // a list of problems is not indented
  result.headline = message.substr(0, hint);
  for (size_t at = 0, lines = 0; (at = result.headline.find('\n', at)) != std::string::npos;)
    result.headline.replace(at, 1, lines++ == 0 ? ": " : "; ");
  result.next_step =
      InOneLine(message.substr(std::min(message.find_first_not_of("\n ", hint), message.size())));
  if (!result.next_step.empty())
    result.next_step[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(result.next_step[0])));
  return result;
}

HistoryRun ToHistory(const GateRun& run, Verdict verdict, const std::string& label, int64_t utc_ns) {
  HistoryRun entry;
  entry.utc_ns = utc_ns;
  entry.label = label;
  entry.setting = run.traits.Setting();
  entry.verdict = VerdictName(verdict);
  entry.recording = run.Recording();
  for (const Measurement& measurement : run.measurements)
    if (const MetricKind* kind = FindMetricKind(measurement.metric); !kind->is_family)
      entry.values[measurement.metric] = {kind->title, kind->unit, measurement.mean.mean};
  for (const Finding& finding : run.findings) entry.findings.emplace_back(finding.rule, SubjectJson(finding));
  std::ranges::sort(entry.findings);
  return entry;
}

}  // namespace dladvisor
