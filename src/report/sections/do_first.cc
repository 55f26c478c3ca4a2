// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/do_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/report/sections/capture_section.h"
#include "src/report/sections/claim.h"
#include "src/report/sections/findings_section.h"
#include "src/report/sections/headline_without_gpu.h"
#include "src/report/sections/host_alone.h"
#include "src/report/sections/ledger_section.h"
#include "src/report/sections/loss_text.h"

namespace dladvisor {
namespace {

std::string_view CategoryOf(const Advice& advice, const Finding& finding) {
  const auto rule = std::ranges::find(advice.rules, finding.rule, &RuleSummary::id);
  return rule != advice.rules.end() ? std::string_view(rule->category) : "";
}

bool IsOnCapture(const Advice& advice, const Finding& finding) {
  return CategoryOf(advice, finding) == "capture";
}

// Whether it is about time in which the GPU does not compute.
bool IsOnLoss(const Advice& advice, const Finding& finding) {
  constexpr std::array kCategories = std::to_array<std::string_view>(
      {"communication", "copies", "input", "io", "launch", "memory", "synchronization"});
  return std::ranges::find(kCategories, CategoryOf(advice, finding)) != kCategories.end();
}

bool IsWarning(const Advice& advice, size_t root) {
  return advice.findings[root].severity != Severity::kInfo;
}

// A note on the capture is nothing to do for the program, and one of low confidence, or that calls itself
// minor, nothing to begin with.
bool IsNoteOnProgram(const Advice& advice, const Finding& finding) {
  return finding.confidence != Confidence::kLow && !finding.recommendation.empty() &&
         !Holds(finding, "minor") && !IsOnCapture(advice, finding);
}

// What is wrong with the profile as a whole: where one of these rules fires, the figures do not hold as they
// stand, and nothing comes before it.
struct Doubt {
  std::string_view rule, text;
  bool keeps_figures;  // whether those of the whole are worth saying all the same
};
constexpr std::array kDoubts = std::to_array<Doubt>({
    {"kernels-not-recorded",
     "Most of the launched kernels were not recorded, so that the GPU may have worked where it seems idle. ",
     true},
    {"collectives-only", "The profile holds nothing but collectives, so that idle time in it means nothing; ",
     false},
    {"several-runs", "The files are not of one run, so that figures over all of them mean nothing; ", false},
});

// GPU work of a test or a single call that is over so soon: nobody waits for its code to be loaded.
constexpr double kBrief = 50e6;

// A warning on the bucket of the ledger that is most of the loss, whose saving nobody knows: what happens
// once costs a later step nothing, and yet the rest of a cold step is no place to begin.
std::optional<size_t> OnMostOfTheLoss(const ReportModel& model, const std::vector<size_t>& roots) {
  double lost = 0;
  Segment largest;
  for (const Segment& segment : HeadlineSegments(model)) {
    if (segment.label.starts_with("compute/")) continue;
    lost += segment.value;
    if (segment.value > largest.value) largest = segment;
  }
  if (!(largest.value > lost / 2)) return std::nullopt;
  for (const size_t root : roots) {
    const Finding& finding = model.advice->findings[root];
    if (finding.severity != Severity::kInfo && finding.saves && finding.saves->bucket == largest.label)
      return root;
  }
  return std::nullopt;
}

// What a saving is weighed against: the time of a step, else of what is analysed.
struct Whole {
  bool has_steps = false;
  double total = 0, lost = 0;
};
Whole WholeOf(const ReportModel& model) {
  const bool has_steps = FigureNumber(model, "step_time").has_value();
  return {has_steps, FigureNumber(model, has_steps ? "step_time" : "window").value_or(0),
          FigureNumber(model, has_steps ? "lost_per_step" : "lost_in_window").value_or(0)};
}

// A saving of less than a hundredth, or of a twentieth of what is lost, is not what to begin with.
double LeastSaving(const Whole& whole) { return std::max(0.01 * whole.total, 0.05 * whole.lost); }

constexpr double kHalfIdle = 0.5;

bool IsTest(const Advice& advice, const Whole& whole) {
  return whole.total < kBrief && FindingOf(advice, "one-shot-program").has_value();
}

// What comes before all that saves time.
std::optional<size_t> BeforeSavings(const ReportModel& model) {
  const Advice& advice = *model.advice;
  for (const Doubt& doubt : kDoubts)
    if (const auto root = FindingOf(advice, doubt.rule)) return root;
  // Known without another capture, which would show the same.
  if (!HasGpuWork(model) && !UsesNoGpu(model))
    if (const auto feeding = FedByHost(advice)) return feeding;
  if (const auto none = NoKernelAtAll(model)) return none;
  // Shares of what is listed say nothing of what is not.
  if (const auto graphs = FindingOf(advice, "summary-hides-graphs"); graphs && !HasGpuWork(model))
    return graphs;
  // A program that died has no pace to improve, and one that leaves the GPU out another one with it.
  for (const char* rule : {"log-stopped", "log-out-of-memory", "log-server-stopped", "program-failed",
                           "program-stopped", "log-trains-on-cpu"})
    if (const auto stopped = FindingOf(advice, rule); stopped && !HasGpuWork(model)) return stopped;
  // Steps are work that it did before.
  if (const auto failed = FindingOf(advice, "program-failed");
      failed && (IsTest(advice, WholeOf(model)) || !WholeOf(model).has_steps))
    return failed;
  if (const auto errors = FindingOf(advice, "cuda-errors"))
    return Holds(advice.findings[*errors], "first") ? errors : std::nullopt;
  // What computes a wrong result has none to be had sooner.
  if (const auto unread = FindingOf(advice, "managed-without-wait")) return unread;
  if (!HasGpuWork(model)) {
    // Shares of one cold pass say little of others.
    if (const auto once = FindingOf(advice, "single-host-pass");
        once && Holds(advice.findings[*once], "first"))
      return once;
    const auto begins = HostAloneBeforeWhatIsMissing(advice);
    return begins ? std::optional(begins->root) : std::nullopt;
  }
  if (const auto late = FindingOf(advice, "late-first-batch")) return late;
  // Until the GPU works at its speed, the times of its kernels say little of what would save some.
  const Whole whole = WholeOf(model);
  return whole.lost < kHalfIdle * whole.total ? FindingOf(advice, "memory-below-its-rate") : std::nullopt;
}

// Without steps nothing shows that loading and compiling code recurs, as other losses do while the program
// goes on: they come first unless the profile is mostly of its start.
constexpr double kMostlyStartUp = 0.5;
bool HappensOnce(const SavingClaim& saves, bool has_steps) {
  return !has_steps && saves.bucket == "idle/compilation";
}

// A mistake of one line that costs so much of the time comes before what is more work, and may save more.
constexpr double kWorthALine = 0.1;

// The findings that save most: of what recurs, and the first of what happens once.
struct Weighed {
  std::optional<size_t> best, start_up, note;  // a note that is sure of nothing, nor much
  double expected = 0, starting = 0;           // what they save
  bool of_communication = false;               // whether the best does
};
// What may save so much of the time is worth beginning with, though nothing of it is sure.
constexpr double kWorthATry = 0.25;
Weighed WeighSavings(const Advice& advice, const Whole& whole) {
  const double least = LeastSaving(whole);
  const bool is_test = IsTest(advice, whole);
  Weighed found;
  bool is_line = false;  // the best
  for (const size_t root : advice.Roots()) {
    const std::optional<SavingClaim> saves = Claiming(advice, root).saves;
    if (!saves || (is_test && saves->bucket == "idle/compilation")) continue;
    const double high = saves->high_ns.value_or(0);
    if (!(high > least)) continue;
    if (HappensOnce(*saves, whole.has_steps) && high < kMostlyStartUp * whole.total) {
      if (found.start_up) continue;
      found.start_up = root;
      found.starting = high;
      continue;
    }
    // Of a note only what is sure comes before a warning.
    const bool is_note = advice.findings[root].severity == Severity::kInfo;
    const double expected = is_note ? saves->low_ns.value_or(0) / 2 : saves->ExpectedNs().value_or(0);
    if (!(expected > 0) && high < kWorthATry * whole.total) {
      if (!found.note) found.note = root;
      continue;
    }
    const bool line = Holds(advice.findings[root], "one_line") && expected > kWorthALine * whole.total;
    if (found.best && (line == is_line ? !(expected > found.expected) : is_line)) continue;
    is_line = line;
    found.best = root;
    found.expected = expected;
    found.of_communication = saves->bucket.starts_with("communication");
  }
  return found;
}

// Where one kernel takes most of the time and little is saved of what is lost, it is what to look at.
constexpr double kMostlyComputing = 0.8;
// A kernel of the program's own may be made faster by far more than what is saved, where it holds so many
// times as much.
constexpr double kFarMore = 6;
double TimeOfOwnKernel(const Advice& advice, size_t root, const Whole& whole) {
  const Finding& finding = advice.findings[root];
  if (Holds(finding, "library") || Holds(finding, "pytorch")) return 0;
  for (const PlacedValue& placed : finding.problem.values)
    if (placed.value.name == "kernel_share")
      return AsNumber(placed.value.value).value_or(0) * (whole.total - whole.lost);
  return 0;
}
std::optional<size_t> KernelBeforeSavings(const Advice& advice, const Whole& whole, const Weighed& savings) {
  const auto kernel = FindingOf(advice, "dominant-kernel");
  if (!kernel || !savings.best || savings.start_up) return std::nullopt;
  const bool is_little = whole.lost < (1 - kMostlyComputing) * whole.total &&
                         (savings.expected < kSmallLoss * whole.total ||
                          TimeOfOwnKernel(advice, *kernel, whole) > kFarMore * savings.expected);
  const bool computes = OfComputing(*MostSaving(advice, *savings.best).saves);
  return is_little && !computes ? kernel : std::nullopt;
}

// What a benchmark of links or of a server measured is of another run than the GPU work beside it.
bool IsOfABenchmark(const Finding& finding) {
  constexpr std::array kRules =
      std::to_array<std::string_view>({"slow-transfer-test", "transfer-test", "transfer-test-wrong",
                                       "benchmark-result", "requests-wait-for-first-token"});
  return std::ranges::find(kRules, finding.rule) != kRules.end();
}

// Where no finding says what it saves: a warning that does not call itself minor, or a note on what takes the
// time. What is said of a loss comes last where hardly any time is lost.
std::optional<size_t> WithoutSaving(const ReportModel& model, const Whole& whole,
                                    std::optional<size_t> besides) {
  const Advice& advice = *model.advice;
  std::vector<size_t> roots = advice.Roots();
  if (besides) std::erase(roots, *besides);
  if (HasGpuWork(model))
    std::erase_if(roots, [&](size_t root) { return IsOfABenchmark(advice.findings[root]); });
  const bool little_lost = HasGpuWork(model) && whole.lost < kSmallLoss * whole.total;
  const auto on_little = [&](size_t root) { return little_lost && IsOnLoss(advice, advice.findings[root]); };
  const auto warning = [&](bool of_little) -> std::optional<size_t> {
    for (const bool may_save : {false, true})
      for (const size_t root : roots)
        if (IsWarning(advice, root) && !Holds(advice.findings[root], "minor") &&
            on_little(root) == of_little && (may_save || !advice.findings[root].saves))
          return root;
    return std::nullopt;
  };
  const auto note = [&](bool of_little) -> std::optional<size_t> {
    for (const size_t root : roots)
      if (IsNoteOnProgram(advice, advice.findings[root]) && on_little(root) == of_little) return root;
    return std::nullopt;
  };
  for (const bool of_little : {false, true}) {
    if (const auto root = warning(of_little)) return root;
    if (const auto root = note(of_little)) return root;
  }
  // Of a program without GPU work what is recorded is all that there is to advise on.
  if (!HasGpuWork(model) && UsesNoGpu(model) && !roots.empty()) return roots.front();
  return std::nullopt;
}

// So few kernels of a network that no pass of it is among them, however long they take.
constexpr double kFewKernels = 10;
constexpr std::array kOfOtherPrograms =
    std::to_array<std::string_view>({"OpenACC", "OpenMP", "RAPIDS", "CuPy", "Numba"});
std::optional<size_t> NoPassAtAll(const ReportModel& model) {
  const Advice& advice = *model.advice;
  const auto once = FindingOf(advice, "one-shot-program");
  if (!once || !OnlyAsksForMore(advice.findings[*once])) return std::nullopt;
  const auto& lets = advice.findings[*once].lets;
  const auto kernels = std::ranges::find(lets, "kernels", &NamedValue::name);
  const Figure* framework = FindFigure(model, "framework");
  const std::string name =
      framework == nullptr || IsNull(framework->value) ? "" : FormatValue(framework->value, Unit::kText);
  const bool of_network =
      !name.empty() &&
      std::ranges::none_of(kOfOtherPrograms, [&](std::string_view other) { return name.starts_with(other); });
  const bool few = kernels != lets.end() && AsNumber(kernels->value).value_or(kFewKernels) < kFewKernels;
  return few && of_network ? once : std::nullopt;
}

// A saving that holds for each call of what was measured, however little that is of a program.
constexpr double kSureShare = 0.1;
bool IsSure(const Advice& advice, const Weighed& savings, const Whole& whole) {
  if (!savings.best) return false;
  const auto& saves = MostSaving(advice, *savings.best).saves;
  return saves && !HappensOnce(*saves, whole.has_steps) &&
         saves->low_ns.value_or(0) > kSureShare * whole.total;
}

// From this share of the time on, collectives wait for the start of the other ranks, which load code as well.
constexpr double kStartOfRanks = 0.25;

// By what is saved of the analysed time.
std::optional<size_t> AmongSavings(const ReportModel& model, std::optional<size_t> besides = std::nullopt) {
  const Advice& advice = *model.advice;
  const Whole whole = WholeOf(model);
  const Weighed savings = WeighSavings(advice, whole);
  if (const auto once = NoPassAtAll(model);
      once && !(savings.start_up && !savings.best) && !IsSure(advice, savings, whole))
    return once;
  if (savings.of_communication && savings.starting > kStartOfRanks * whole.total) return savings.start_up;
  if (const auto kernel = KernelBeforeSavings(advice, whole, savings)) return kernel;
  // What is left of a cold step is no place to begin; a program goes on, so that there most of all must be.
  const auto most = OnMostOfTheLoss(model, advice.Roots());
  if (most && advice.findings[*most].saves->bucket == "idle/compilation" &&
      (whole.has_steps || InBucket(model, "idle/compilation") > kMostlyStartUp * whole.total) &&
      savings.expected < kWorthATry * whole.total && !IsTest(advice, whole))
    return most;
  if (savings.best) return savings.best;
  if (const auto paced = FindingOf(advice, "paced-by-frames")) return paced;
  if (savings.start_up) return savings.start_up;
  if (most && !IsTest(advice, whole)) return most;
  const auto other = WithoutSaving(model, whole, besides);
  // Code that is compiled at the start is compiled at that of the program at work as well.
  if (const auto compiled = FindingOf(advice, "ptx-compiled");
      compiled && IsWarning(advice, *compiled) && other && OnlyAsksForMore(advice.findings[*other]))
    return compiled;
  return savings.note && (!other || !IsWarning(advice, *other)) ? savings.note : other;
}

// What to do within the GPU's time, where it saves enough of that, and some of the program's, and is no
// question after what the host does.
constexpr double kWorthDoing = 0.1, kOfTheProgram = 0.01;
bool IsWorthDoingFirst(const ReportModel& model, size_t root, double program_ns) {
  const Advice& advice = *model.advice;
  const Finding& finding = advice.findings[root];
  const Whole whole = WholeOf(model);
  const std::optional<SavingClaim>& saves = MostSaving(advice, root).saves;
  return IsWarning(advice, root) && !IsOnCapture(advice, finding) &&
         (finding.rule != "host-work" || Holds(finding, "known")) && saves &&
         !HappensOnce(*saves, whole.has_steps) &&
         saves->high_ns.value_or(0) > std::max(kWorthDoing * whole.total, kOfTheProgram * program_ns);
}

// The host's own time, where that is what to begin with. What a test computes on the host is its data and its
// check, unless that takes so long that nothing on the GPU would be noticed beside it; and who is only asked
// what the host does there has nothing to do yet, and still less behind a second question.
constexpr double kNoticed = 1e9, kManyTimes = 100;
std::optional<size_t> HostBeforeSavings(const ReportModel& model, std::optional<size_t> among_savings) {
  const Advice& advice = *model.advice;
  const auto host = HostAloneForMostOfTheTime(advice);
  const bool is_test = IsTest(advice, WholeOf(model));
  if (FindingOf(advice, "cuda-errors")) return std::nullopt;
  if (host && Holds(advice.findings[host->root], "known")) return host->root;
  if (is_test && host &&
      host->share * host->program_ns > std::max(kNoticed, kManyTimes * WholeOf(model).total))
    return host->root;
  if (is_test) return WritesForLonger(advice, WholeOf(model).total);
  if (!host) return std::nullopt;
  const auto worth = [&](size_t root) { return IsWorthDoingFirst(model, root, host->program_ns); };
  if (among_savings && worth(*among_savings)) return among_savings;
  std::optional<size_t> best;
  if (among_savings && advice.findings[*among_savings].rule == "host-work")
    for (const size_t root : advice.Roots())
      if (worth(root) &&
          (!best || *MostSaving(advice, root).saves->high_ns > *MostSaving(advice, *best).saves->high_ns))
        best = root;
  return best ? best : host->root;
}

}  // namespace

bool SavesLittle(const ReportModel& model, const Finding& finding) {
  if (!finding.saves) return false;
  const double high = finding.saves->high_ns.value_or(0);
  return high > 0 && high <= LeastSaving(WholeOf(model));
}

std::string DoubtText(const ReportModel& model) {
  const ReportTable* recorded = FindTable(model, "recorded");
  if (recorded != nullptr && !recorded->rows.rows.empty() &&
      AsNumber(CellOf(*recorded, 0, "truncated")).value_or(0) > 0)
    return "The profile is incomplete, its end is missing: copy or export it again. ";
  for (const Doubt& doubt : kDoubts)
    if (FindingOf(*model.advice, doubt.rule)) return std::string(doubt.text);
  return "";
}

std::optional<size_t> NoKernelAtAll(const ReportModel& model) {
  for (const Segment& segment : HeadlineSegments(model))
    if (segment.value > 0 &&
        (segment.label.starts_with("compute/") || segment.label.starts_with("communication/")))
      return std::nullopt;
  if (const auto failed = FindingOf(*model.advice, "program-failed")) return failed;
  const auto none = FindingOf(*model.advice, "no-gpu-work");
  // Calls were recorded, and none launches: what the program reads back is then its work.
  const auto reads = FindingOf(*model.advice, "scalar-reads");
  return reads && none && !Holds(model.advice->findings[*none], "launched") ? reads : none;
}

bool OnlyAsksForMore(const Finding& finding) {
  return finding.rule == "one-shot-program" && !Holds(finding, "empty") &&
         std::ranges::none_of(finding.lets, [](const NamedValue& let) {
           const auto* text = std::get_if<std::string>(&let.value);
           return (let.name == "launching" || let.name == "moving") && text != nullptr && !text->empty();
         });
}

bool FiguresHold(const Advice& advice) {
  return std::ranges::none_of(kDoubts,
                              [&](const Doubt& d) { return !d.keeps_figures && FindingOf(advice, d.rule); });
}

std::string OutsideGpuTime(const ReportModel& model, size_t first) {
  const auto host = HostAloneForMostOfTheTime(*model.advice);
  if (!host || host->root == first || IsTest(*model.advice, WholeOf(model)) || BeforeSavings(model))
    return "";
  return "; then find out what the host computes alone";
}

std::string WithinGpuTime(const ReportModel& model, size_t first) {
  const Advice& advice = *model.advice;
  const auto next = AmongSavings(model, first);
  if (!next || *next == first || !IsWarning(advice, *next) || IsOnCapture(advice, advice.findings[*next]))
    return "";
  return "; then " + FirstThing(advice.findings[*next]);
}

std::string AfterStartUp(const ReportModel& model, size_t first) {
  const Advice& advice = *model.advice;
  const Whole whole = WholeOf(model);
  const std::optional<SavingClaim> saves = Claiming(advice, first).saves;
  if (!saves || !HappensOnce(*saves, whole.has_steps)) return "";
  std::optional<size_t> next;
  double most = 0;
  for (const size_t root : advice.Roots()) {
    const std::optional<SavingClaim> of_root = Claiming(advice, root).saves;
    if (!of_root || HappensOnce(*of_root, whole.has_steps) || !IsWarning(advice, root)) continue;
    if (!(of_root->high_ns.value_or(0) > most)) continue;
    most = of_root->high_ns.value_or(0);
    next = root;
  }
  if (!next || most < kWorthATry * (whole.total - saves->high_ns.value_or(0))) {
    if (const auto late = FindingOf(advice, "late-collective"))
      return "; then " + FirstThing(advice.findings[*late]);
    for (const bool of_warning : {true, false})
      for (const size_t root : advice.Roots()) {
        const Finding& finding = advice.findings[root];
        if (IsWarning(advice, root) == of_warning && IsNoteOnProgram(advice, finding) &&
            CategoryOf(advice, finding) == "compute")
          return "; then " + FirstThing(finding);
      }
    return "";
  }
  return fmt::format("; then {} ({})", FirstThing(advice.findings[*next]),
                     SavingText(model, ClaimingOfAlike(advice, *next)));
}

std::optional<size_t> DoFirst(const ReportModel& model) {
  if (const auto root = BeforeSavings(model)) return root;
  const auto saving = AmongSavings(model);
  if (!HasGpuWork(model)) return saving;
  const auto host = HostBeforeSavings(model, saving);
  return host ? host : saving;
}

}  // namespace dladvisor
