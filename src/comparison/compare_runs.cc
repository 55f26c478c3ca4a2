// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "src/comparison/change_words.h"
#include "src/gate/judge/rule_verdict.h"

namespace dladvisor {
namespace {

// Work of a step is the same up to this, relative.
constexpr double kSameWork = 0.02, kOtherWork = 0.1;
// Windows hold the same work where operators with this share of either side's GPU time ran equally often.
constexpr double kLeastCommon = 0.9, kSameCalls = 0.05;
// Calls of operators with a smaller share of a side's GPU time say nothing of the runs.
constexpr double kLeastTold = 0.1;

double NsOf(std::span<const RecordedWork> works) {
  double sum = 0;
  for (const RecordedWork& work : works) sum += work.ns;
  return sum;
}

// How many times the FLOPs of a step of the first run one of the second has; without steps, of all analysed
// work.
std::optional<double> WorkRatio(const RecordedRun& before, const RecordedRun& after) {
  const auto flops = [](const RecordedRun& run) {
    return run.flops.value_or(0) / static_cast<double>(std::max<size_t>(run.steps, 1));
  };
  const double a = flops(before), b = flops(after);
  if (!(a > 0) || !(b > 0)) return std::nullopt;
  return b / a;
}

std::string StepText(const RecordedRun& run) {
  if (run.step_pattern.empty()) return run.step_source.empty() ? "unknown" : run.step_source;
  return fmt::format("{} ({})", run.step_pattern, run.step_source);
}

bool RanEquallyOften(const RecordedRun& before, const RecordedRun& after) {
  double common_before = 0, common_after = 0;
  for (const WorkPair& pair : MatchByName(before.operators, after.operators))
    if (pair.before && pair.after &&
        std::abs(pair.after->calls - pair.before->calls) <= kSameCalls * pair.before->calls) {
      common_before += pair.before->ns;
      common_after += pair.after->ns;
    }
  return common_before > 0 && common_before >= kLeastCommon * NsOf(before.operators) &&
         common_after >= kLeastCommon * NsOf(after.operators);
}

// Of a file whose end is missing there may be steps, and nothing that ran in them.
bool RanOnGpu(const RecordedRun& run) { return !run.kernels.empty() || !run.operators.empty(); }

std::pair<ComparedUnit, std::string> ChooseUnit(const RecordedRun& before, const RecordedRun& after) {
  if (RanOnGpu(before) != RanOnGpu(after))
    return {ComparedUnit::kCall, fmt::format("{} recorded no work on a GPU.", RanOnGpu(before) ? "B" : "A")};
  const bool a = before.step_ns.has_value(), b = after.step_ns.has_value();
  if (a && b) {
    if (before.step_source == after.step_source && before.step_pattern == after.step_pattern)
      return {ComparedUnit::kStep, ""};
    const std::string steps = fmt::format("{} in A and {} in B", StepText(before), StepText(after));
    const auto ratio = WorkRatio(before, after);
    if (ratio && std::abs(*ratio - 1) <= kSameWork)
      return {ComparedUnit::kStep,
              fmt::format("Steps are {}; they have the same number of floating-point operations.", steps)};
    return {
        ComparedUnit::kCall,
        fmt::format("Steps are {}, so that their lengths cannot be compared: times are of one call.", steps)};
  }
  if (!a && !b && RanEquallyOften(before, after))
    return {
        ComparedUnit::kWindow,
        "Neither run has steps; both ran the same operators equally often: times are of all analysed work, "
        "which each run did once, so that it is not known how much they vary."};
  return {ComparedUnit::kCall,
          fmt::format("{} no steps, and they did not run the same operators equally often: "
                      "times are of one call of what both ran.",
                      !a && !b ? "The runs have"
                      : a      ? "B has"
                               : "A has")};
}

double SizeOfChange(const WorkPair& pair) {
  return std::abs((pair.after ? pair.after->ns : 0) - (pair.before ? pair.before->ns : 0));
}

// Divides by steps, or by calls.
std::vector<WorkPair> InUnits(std::vector<WorkPair> pairs, ComparedUnit unit, double steps_before,
                              double steps_after) {
  const auto divide = [&](std::optional<WorkAmount>& amount, double steps) {
    if (!amount) return;
    amount->ns /= unit == ComparedUnit::kCall ? std::max(amount->calls, 1.0) : steps;
    if (unit == ComparedUnit::kStep) amount->calls /= steps;
  };
  for (WorkPair& pair : pairs) {
    divide(pair.before, steps_before);
    divide(pair.after, steps_after);
  }
  std::ranges::stable_sort(pairs, std::greater(), [&](const WorkPair& pair) {
    if (unit != ComparedUnit::kCall) return SizeOfChange(pair);
    return pair.before && pair.after ? SizeOfChange(pair) * pair.before->calls : 0;
  });
  return pairs;
}

std::vector<BucketChange> CompareLedgers(const RecordedRun& before, const RecordedRun& after) {
  std::map<std::string, BucketChange> buckets;
  for (const auto& [bucket, ns] : before.ledger_ns) buckets[bucket].before_ns = ns;
  for (const auto& [bucket, ns] : after.ledger_ns) buckets[bucket].after_ns = ns;
  std::vector<BucketChange> changes;
  for (auto& [name, bucket] : buckets) {
    bucket.bucket = name;
    changes.push_back(bucket);
  }
  std::ranges::stable_sort(changes, std::greater(),
                           [](const BucketChange& b) { return std::abs(b.after_ns - b.before_ns); });
  return changes;
}

// Over operators that both ran: A's calls at B's time for each. Unknown where these are next to nothing of
// one side.
void CompareCalls(RunsCompared& compared, const RecordedRun& before, const RecordedRun& after) {
  double common = 0, at_after = 0, in_after = 0;
  for (const WorkPair& pair : compared.operators)
    if (pair.before && pair.after) {
      common += pair.before->ns * pair.before->calls;
      at_after += pair.after->ns * pair.before->calls;
      in_after += pair.after->ns * pair.after->calls;
    }
  if (!(common > 0)) return;
  compared.common_share = common / NsOf(before.operators);
  compared.common_share_after = in_after / NsOf(after.operators);
  if (std::min(*compared.common_share, *compared.common_share_after) >= kLeastTold)
    compared.change = at_after / common - 1;
}

std::vector<FindingChange> CompareFindings(const RecordedRun& before, const RecordedRun& after,
                                           const KnowledgeBase& knowledge) {
  const std::span a(&before.gate_run, 1), b(&after.gate_run, 1);
  std::map<std::string, double> saved;  // by identity
  for (const RuleVerdict& verdict : JudgeRules(b, a, knowledge, {}))
    if (verdict.change != RuleVerdict::Change::kGone && verdict.saves_high_ns) {
      double& most = saved[IdentityOf(verdict)];
      most = std::max(most, *verdict.saves_high_ns);
    }
  std::vector<FindingChange> changes;
  for (RuleVerdict& verdict : JudgeRules(a, b, knowledge, {})) {
    if (verdict.change == RuleVerdict::Change::kNotEvaluated) continue;  // no finding
    FindingChange change;
    const auto known = saved.find(IdentityOf(verdict));
    if (verdict.change == RuleVerdict::Change::kStill && known != saved.end())
      change.saved_before_ns = known->second;
    change.finding = std::move(verdict);
    changes.push_back(std::move(change));
  }
  return changes;
}

// Whether what must be the same has the setting already: "Sequence length" is seq_length.
bool IsSaid(const std::vector<Difference>& differences, std::string_view setting, std::string_view before,
            std::string_view after) {
  constexpr size_t kLetters = 3;
  const auto same_letter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::ranges::any_of(differences, [&](const Difference& difference) {
    return difference.baseline == before && difference.candidate == after &&
           std::ranges::equal(setting.substr(0, kLetters),
                              std::string_view(difference.title).substr(0, kLetters), same_letter);
  });
}

std::vector<Difference> CompareSettings(const RecordedRun& before, const RecordedRun& after) {
  std::vector<Difference> differences =
      CompareTraits(std::span(&before.gate_run.traits, 1), std::span(&after.gate_run.traits, 1), {});
  for (const auto& [name, value] : before.settings)
    if (const auto other = after.settings.find(name); other != after.settings.end() &&
                                                      other->second != value &&
                                                      !IsSaid(differences, name, value, other->second))
      differences.push_back({name, name, value, other->second, false, ""});
  for (Difference& difference : differences) difference.blocks = false;  // nothing is refused here
  return differences;
}

std::vector<FigureChange> CompareFigures(const RecordedRun& before, const RecordedRun& after) {
  std::vector<FigureChange> changes;
  for (const RecordedFigure& figure : before.figures)
    changes.push_back({figure.title, figure.unit, figure.value, {}});
  for (const RecordedFigure& figure : after.figures) {
    const auto known = std::ranges::find(changes, figure.title, &FigureChange::title);
    if (known != changes.end())
      known->after = figure.value;
    else
      changes.push_back({figure.title, figure.unit, {}, figure.value});
  }
  return changes;
}

// Where steps have other work: how long each of its parts takes.
void NoteOtherWork(RunsCompared& compared, const RecordedRun& before, const RecordedRun& after) {
  if (compared.unit == ComparedUnit::kCall || !compared.change) return;
  const bool step = compared.unit == ComparedUnit::kStep;
  const auto note_parts = [&](const char* part, const std::optional<double>& a,
                              const std::optional<double>& b) {
    if (!step || !a || !b || !(*a > 0) || std::abs(*b / *a - 1) <= kSameWork) return false;
    compared.notes.push_back(fmt::format("A step has {} {}s in A and {} in B: a {} takes {} time in B.",
                                         FormatValue(*a, Unit::kCount), part, FormatValue(*b, Unit::kCount),
                                         part, MoreOrLessShare((1 + *compared.change) * *a / *b - 1)));
    return true;
  };
  if (note_parts("token", before.tokens, after.tokens) || note_parts("sample", before.samples, after.samples))
    return;
  const auto ratio = WorkRatio(before, after);
  if (!ratio || std::abs(*ratio - 1) <= kOtherWork) return;
  compared.notes.push_back(
      fmt::format("{} has {:.3g} times the floating-point operations of {}: another batch size, sequence "
                  "length or model, or "
                  "work that is no longer done. For the same number of them B takes {} time.",
                  step ? "A step of B" : "B", *ratio, step ? "one of A" : "A",
                  MoreOrLessShare((1 + *compared.change) / *ratio - 1)));
}

// Without the folders that both are in.
void ShortenNames(ComparedSide& before, ComparedSide& after) {
  for (ComparedSide* side : {&before, &after})
    while (side->name.size() > 1 && side->name.ends_with('/')) side->name.pop_back();
  const auto differ = std::ranges::mismatch(before.name, after.name).in1;
  const std::string_view common(before.name.data(), static_cast<size_t>(differ - before.name.begin()));
  const size_t slash = common.rfind('/');
  if (slash == std::string_view::npos) return;
  for (ComparedSide* side : {&before, &after})
    if (side->name.size() > slash + 1) side->name.erase(0, slash + 1);
}

ComparedSide SideOf(const RecordedRun& run, ComparedUnit unit) {
  ComparedSide side;
  side.name = run.gate_run.name;
  side.ranks = run.gate_run.ranks;
  side.steps = run.steps;
  if (unit == ComparedUnit::kStep) {
    side.unit_ns = run.step_ns;
    side.stddev_ns = run.step_stddev_ns;
  } else if (unit == ComparedUnit::kWindow) {
    side.unit_ns = run.window_ns;
  }
  return side;
}

}  // namespace

std::string_view UnitNameOf(ComparedUnit unit) {
  switch (unit) {
    case ComparedUnit::kStep:
      return "step";
    case ComparedUnit::kWindow:
      return "window";
    case ComparedUnit::kCall:
      break;
  }
  return "call";
}

RunsCompared CompareRuns(const RecordedRun& before, const RecordedRun& after,
                         const KnowledgeBase& knowledge) {
  RunsCompared compared;
  std::tie(compared.unit, compared.unit_why) = ChooseUnit(before, after);
  compared.before = SideOf(before, compared.unit);
  compared.after = SideOf(after, compared.unit);
  ShortenNames(compared.before, compared.after);
  const bool steps = compared.unit == ComparedUnit::kStep;
  const double steps_before = steps ? static_cast<double>(before.steps) : 1,
               steps_after = steps ? static_cast<double>(after.steps) : 1;
  const auto in_units = [&](std::vector<WorkPair> pairs) {
    return InUnits(std::move(pairs), compared.unit, steps_before, steps_after);
  };
  compared.operators = in_units(MatchOperators(before.operators, after.operators));
  compared.shapes = in_units(MatchShapes(before.shapes, after.shapes));
  compared.kernels = in_units(MatchKernels(before.kernels, after.kernels));
  compared.figures = CompareFigures(before, after);
  if (compared.unit == ComparedUnit::kCall) {
    CompareCalls(compared, before, after);
  } else {
    compared.kinds = in_units(SumByKind(before.kernels, after.kernels));
    compared.ledger = CompareLedgers(before, after);
    compared.timers = InUnits(MatchByName(before.timers, after.timers), ComparedUnit::kWindow, 1, 1);
    if (compared.before.unit_ns.value_or(0) > 0 && compared.after.unit_ns)
      compared.change = *compared.after.unit_ns / *compared.before.unit_ns - 1;
  }
  compared.findings = CompareFindings(before, after, knowledge);
  compared.differences = CompareSettings(before, after);
  const bool unmeasured = before.operators.empty() && after.operators.empty() && !compared.change;
  if (!compared.unit_why.empty() && !unmeasured) compared.notes.push_back(compared.unit_why);
  NoteOtherWork(compared, before, after);
  DescribeChange(compared);
  for (const auto& [run, label] : {std::pair{&before, "A"}, std::pair{&after, "B"}})
    if (run->truncated)
      compared.headline = fmt::format("{} is incomplete, its end is missing: copy or export it again. {}",
                                      label, compared.headline);
  return compared;
}

}  // namespace dladvisor
