// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "engine/base/text.h"
#include "src/render/bucket_words.h"
#include "src/render/escape.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/finding_words.h"
#include "src/report/sections/findings_section.h"
#include "src/report/sections/ledger_section.h"
#include "src/report/sections/serving_section.h"
#include "src/report/sections/telemetry_section.h"
#include "src/report/sections/training_section.h"

namespace dladvisor {
namespace {

std::string Sentence(std::string_view text) {
  std::string line = OneLine(text);
  while (!line.empty() && (line.back() == '.' || line.back() == ' ')) line.pop_back();
  return line;
}

// The recommendation as an order within the headline, cut at its first sentence.
std::string FirstThing(const Finding& finding) {
  if (finding.recommendation.empty()) return Sentence(finding.title);
  return WithinSentence(Sentence(finding.recommendation[0].FirstSentence()));
}

// A finding that says what it saves itself, else of what it explains the one that saves most: a cause often
// leaves the claim to its symptom.
const Finding& MostSaving(const Advice& advice, size_t root) {
  const Finding* most = &advice.findings[root];
  if (most->saves && most->saves->high_ns) return *most;
  const auto high = [](const Finding& f) { return f.saves ? f.saves->high_ns.value_or(-1) : -1; };
  for (const size_t symptom : advice.findings[root].causes)
    if (const Finding& below = MostSaving(advice, symptom); high(below) > high(*most)) most = &below;
  return *most;
}

// What MostSaving says, of which a cause that borrows it from its symptom is sure of nothing.
Finding Claiming(const Advice& advice, size_t root) {
  const Finding& most = MostSaving(advice, root);
  Finding claim;
  claim.saves = most.saves;
  if (claim.saves && &most != &advice.findings[root]) claim.saves->low_ns = 0;
  return claim;
}

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

// A note on the capture is nothing to do for the program, and one of low confidence nothing to begin with.
bool IsNoteOnProgram(const Advice& advice, const Finding& finding) {
  return finding.confidence != Confidence::kLow && !finding.recommendation.empty() &&
         !IsOnCapture(advice, finding);
}

// A GPU that computes nearly all the time has no loss to speak of: what it computes is what to look at.
constexpr double kSmallLoss = 0.05;

// What the work needs of the time that is spent computing: where a part of it is not known, all of that part.
std::optional<double> LeastComputing(const ReportModel& model, double computing_ns, double total_ns) {
  const auto least = FigureNumber(model, "speed_of_light"), known = FigureNumber(model, "known_work_share");
  if (!least || !known) return std::nullopt;
  return std::min(*least * total_ns + (1 - *known) * computing_ns, computing_ns);
}

// "99.7 % of 842 ms per step are spent computing, where 310 ms would do on this GPU"; where that is not known
// "..., 98.2 % without tensor cores".
std::string ComputeText(const ReportModel& model, double lost_share, const std::string& of, double total_ns) {
  double total = 0, other = 0, tensor = 0;
  for (const Segment& segment : HeadlineSegments(model)) {
    total += segment.value;
    if (segment.label == "compute/tensor") tensor = segment.value;
    if (segment.label == "compute/other") other = segment.value;
  }
  const std::string computing = FormatValue(1 - lost_share, Unit::kRatio);
  const std::string text = fmt::format("{} of {} are spent computing", computing, of);
  const double computing_ns = (1 - lost_share) * total_ns;
  if (const auto least = LeastComputing(model, computing_ns, total_ns)) {
    const std::string enough = FormatValue(*least, Unit::kNanoseconds);
    return enough == FormatValue(computing_ns, Unit::kNanoseconds)
               ? text
               : fmt::format("{}, where {} would do on this GPU", text, enough);
  }
  // Where no op could use tensor cores, nor do without them.
  if (!(total > 0) || !FigureNumber(model, "tensor_core_efficiency")) return text;
  const bool on = tensor > other;
  const std::string part = FormatValue(std::max(tensor, other) / total, Unit::kRatio);
  return fmt::format("{}, {} {} tensor cores", text, part == computing ? "all of it" : part,
                     on ? "on" : "without");
}

// What to trace so that idleness gets a cause: calls that launch, ranges, what threads do in the system.
std::string FlagsForIdleCauses(const ReportModel& model) {
  const ReportTable* recorded = FindTable(model, "recorded");
  const bool traced = recorded != nullptr && !recorded->rows.rows.empty() &&
                      AsNumber(CellOf(*recorded, 0, "calls_ranges_and_os_calls")).value_or(0) > 0;
  const CaptureWords& words = WordsOf(model);
  return std::string(traced ? words.idle_causes_beyond_calls : words.idle_causes);
}

// ", 52.1 ms of it to data loading": the largest part of what is lost, and what the finding to begin with is
// taken from.
std::string CauseText(const ReportModel& model, const std::string& lost, const std::optional<size_t>& first) {
  const std::vector<Segment> segments = HeadlineSegments(model);
  const Segment *largest = nullptr, *taken = nullptr;
  const std::optional<SavingClaim>* saves = first ? &MostSaving(*model.advice, *first).saves : nullptr;
  for (const Segment& segment : segments) {
    if (segment.label.starts_with("compute/")) continue;
    if (largest == nullptr || segment.value > largest->value) largest = &segment;
    if (saves != nullptr && *saves && (*saves)->bucket == segment.label) taken = &segment;
  }
  if (largest == nullptr || !(largest->value > 0)) return "";
  const std::string part = largest->text == lost ? "all" : largest->text;
  if (largest->label == "idle/unknown")
    return fmt::format(
        ", {} of it idle for a reason that the profile does not show (capture with {} to find it)", part,
        FlagsForIdleCauses(model));
  std::string text = fmt::format(", {} of it to {}", part, BucketWords(largest->label));
  if (taken != nullptr && taken != largest)
    text += fmt::format(" and {} to {}", taken->text, BucketWords(taken->label));
  return text;
}

// ", and 10.1 ms are spent computing where 3.41 ms would do on this GPU", where that is known and matters.
std::string HeadroomText(const ReportModel& model, double computing_ns, double total_ns) {
  const auto least = LeastComputing(model, computing_ns, total_ns);
  if (!least || computing_ns - *least < kSmallLoss * total_ns) return "";
  return fmt::format(", and {} are spent computing where {} would do on this GPU",
                     FormatValue(computing_ns, Unit::kNanoseconds), FormatValue(*least, Unit::kNanoseconds));
}

// By the finding to begin with, in the time that LossText speaks of.
double SavedOfComputing(const ReportModel& model, const std::optional<size_t>& first) {
  if (!first) return 0;
  const std::optional<SavingClaim>& saves = MostSaving(*model.advice, *first).saves;
  return saves && saves->bucket.starts_with("compute") ? saves->high_ns.value_or(0) : 0;
}

// ", unless the program pauses in the 10.3 min of one gap": minutes without a call in which nothing shows
// that the host computes.
std::string PauseText(const Advice& advice) {
  for (const size_t root : advice.Roots()) {
    const Finding& gaps = advice.findings[root];
    if (gaps.rule != "gpu-gaps" || !gaps.saves || gaps.saves->high_ns != 0) continue;
    double alone = 0, longest_ns = 0;
    for (const NamedValue& known : gaps.lets) {
      if (known.name == "alone") alone = AsNumber(known.value).value_or(0);
      if (known.name == "longest_gap") longest_ns = AsNumber(known.value).value_or(0);
    }
    if (alone > 0)
      return fmt::format(", unless the program pauses in the {} of one gap",
                         FormatValue(longest_ns, Unit::kNanoseconds));
  }
  return "";
}

// What is lost is all but computing: where more of that is to be saved, it says so.
std::string LossText(const ReportModel& model, const std::optional<size_t>& first) {
  for (const auto& [lost, total, of] : {std::tuple{"lost_per_step", "step_time", "{} per step"},
                                        {"lost_in_window", "window", "the profiled {}"}}) {
    const auto lost_ns = FigureNumber(model, lost), total_ns = FigureNumber(model, total);
    if (!lost_ns || !total_ns) continue;
    const std::string whole = fmt::format(fmt::runtime(of), FigureText(model, total));
    if (!(*total_ns > 0)) return fmt::format("{} of {} are lost", FigureText(model, lost), whole);
    const double share = *lost_ns / *total_ns;
    if (share < kSmallLoss) return ComputeText(model, share, whole, *total_ns);
    const bool saves_more = SavedOfComputing(model, first) > *lost_ns;
    return fmt::format("{} of {} are lost{} ({:.0f} %){}{}{}", FigureText(model, lost), whole,
                       saves_more ? " besides computing" : "", share * 100,
                       saves_more ? "" : CauseText(model, FigureText(model, lost), first),
                       PauseText(*model.advice), HeadroomText(model, *total_ns - *lost_ns, *total_ns));
  }
  return "How much time is lost is unknown";
}

// " (11 – 36 % of the loss)": of the step, or of what is analysed, where computing is saved.
std::string ShareText(const ReportModel& model, const Finding& finding) {
  if (!finding.saves || finding.saves->bucket == "idle/compilation") return "";
  const bool has_steps = FigureNumber(model, "step_time").has_value(),
             computing = finding.saves->bucket.starts_with("compute");
  const auto whole = FigureNumber(model, computing ? (has_steps ? "step_time" : "window")
                                                   : (has_steps ? "lost_per_step" : "lost_in_window"));
  const double low = finding.saves->low_ns.value_or(0), high = finding.saves->high_ns.value_or(0);
  if (!whole || !(*whole > 0) || !(high > 0) || high > *whole) return "";
  const std::string least = fmt::format("{:.0f}", low / *whole * 100),
                    most = fmt::format("{:.0f}", high / *whole * 100);
  return fmt::format(" ({}{} % of {})",
                     !(low > 0)      ? "up to "
                     : least == most ? ""
                                     : least + " – ",
                     most,
                     !computing  ? "the loss"
                     : has_steps ? "the step"
                                 : "the time");
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

std::optional<size_t> FindingOf(const Advice& advice, std::string_view rule) {
  for (const size_t root : advice.Roots())
    if (advice.findings[root].rule == rule) return root;
  return std::nullopt;
}

// GPU work of a test or a single call that is over so soon: nobody waits for its code to be loaded.
constexpr double kBrief = 50e6;

// Said before all else of a profile whose end is missing, or whose figures are in doubt.
std::string DoubtText(const ReportModel& model) {
  const ReportTable* recorded = FindTable(model, "recorded");
  if (recorded != nullptr && !recorded->rows.rows.empty() &&
      AsNumber(CellOf(*recorded, 0, "truncated")).value_or(0) > 0)
    return "The profile is incomplete, its end is missing: copy or export it again. ";
  for (const Doubt& doubt : kDoubts)
    if (FindingOf(*model.advice, doubt.rule)) return std::string(doubt.text);
  return "";
}

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

// Copies alone: what no kernel follows is no loss of the program's work.
std::optional<size_t> NoKernelAtAll(const ReportModel& model) {
  for (const Segment& segment : HeadlineSegments(model))
    if (segment.value > 0 &&
        (segment.label.starts_with("compute/") || segment.label.starts_with("communication/")))
      return std::nullopt;
  return FindingOf(*model.advice, "no-gpu-work");
}

// The host computes outside of the window for longer than all that the window holds.
constexpr double kMostOfTheProgram = 0.5;
struct HostAlone {
  size_t root = 0;
  double share = 0;  // of the program's time
};
std::optional<HostAlone> HostAloneForMostOfTheTime(const Advice& advice) {
  const auto root = FindingOf(advice, "host-computes-alone");
  if (!root) return std::nullopt;
  // Input that is read once is a start, and a thread that waits computes nothing.
  for (const NamedValue& known : advice.findings[*root].lets)
    if ((known.name == "reading" || known.name == "waits") && AsNumber(known.value).value_or(0) > 0)
      return std::nullopt;
  for (const PlacedValue& placed : advice.findings[*root].problem.values)
    if (placed.value.name == "share_of_program_time")
      if (const double share = AsNumber(placed.value.value).value_or(0); share > kMostOfTheProgram)
        return HostAlone{*root, share};
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

bool IsTest(const Advice& advice, const Whole& whole) {
  return whole.total < kBrief && FindingOf(advice, "one-shot-program").has_value();
}

// What comes before all that saves time.
std::optional<size_t> BeforeSavings(const ReportModel& model) {
  const Advice& advice = *model.advice;
  for (const Doubt& doubt : kDoubts)
    if (const auto root = FindingOf(advice, doubt.rule)) return root;
  if (const auto none = NoKernelAtAll(model)) return none;
  // A training that died has no pace to improve.
  if (const auto stopped = FindingOf(advice, "log-stopped"); stopped && !HasGpuWork(model)) return stopped;
  if (!HasGpuWork(model) || FindingOf(advice, "cuda-errors")) return std::nullopt;
  const auto host = HostAloneForMostOfTheTime(advice);
  return host ? std::optional(host->root) : std::nullopt;
}

// Without steps nothing shows that loading and compiling code recurs, as other losses do while the program
// goes on: they come first unless the profile is mostly of its start.
constexpr double kMostlyStartUp = 0.5;
bool HappensOnce(const SavingClaim& saves, bool has_steps) {
  return !has_steps && saves.bucket == "idle/compilation";
}

// The findings that save most: of what recurs, and the first of what happens once.
struct Weighed {
  std::optional<size_t> best, start_up, note;  // a note that is sure of nothing, nor much
  double expected = 0, starting = 0;           // what they save
  bool of_communication = false;               // whether the best does
};
// What may save so much of the time is worth beginning with, though nothing of it is sure.
constexpr double kWorthATry = 0.25;
Weighed WeighSavings(const Advice& advice, const Whole& whole) {
  // A saving of less than a hundredth, or of a twentieth of what is lost, is not what to begin with.
  const double least = std::max(0.01 * whole.total, 0.05 * whole.lost);
  const bool is_test = IsTest(advice, whole);
  Weighed found;
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
    const double expected = (saves->low_ns.value_or(0) + (is_note ? 0 : high)) / 2;
    if (!(expected > 0) && high < kWorthATry * whole.total) {
      if (!found.note) found.note = root;
      continue;
    }
    if (found.best && !(expected > found.expected)) continue;
    found.best = root;
    found.expected = expected;
    found.of_communication = saves->bucket.starts_with("communication");
  }
  return found;
}

// Where one kernel takes most of the time and little is lost, it is what to look at.
std::optional<size_t> KernelBeforeSavings(const Advice& advice, const Whole& whole, const Weighed& savings) {
  const auto kernel = FindingOf(advice, "dominant-kernel");
  if (!kernel || !savings.best || savings.start_up) return std::nullopt;
  const bool is_little =
      whole.lost < 2 * kSmallLoss * whole.total && savings.expected < kSmallLoss * whole.total;
  const bool computes = MostSaving(advice, *savings.best).saves->bucket.starts_with("compute");
  return is_little && !computes ? kernel : std::nullopt;
}

// Where no finding says what it saves: a warning, or a note on what takes the time. What is said of a loss
// comes last where hardly any time is lost.
std::optional<size_t> WithoutSaving(const ReportModel& model, const Whole& whole) {
  const Advice& advice = *model.advice;
  const std::vector<size_t> roots = advice.Roots();
  const bool little_lost = HasGpuWork(model) && whole.lost < kSmallLoss * whole.total;
  const auto on_little = [&](size_t root) { return little_lost && IsOnLoss(advice, advice.findings[root]); };
  const auto warning = [&](bool of_little) -> std::optional<size_t> {
    for (const bool may_save : {false, true})
      for (const size_t root : roots)
        if (advice.findings[root].severity != Severity::kInfo && on_little(root) == of_little &&
            (may_save || !advice.findings[root].saves))
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

// From this share of the time on, collectives wait for the start of the other ranks, which load code as well.
constexpr double kStartOfRanks = 0.25;

}  // namespace

std::optional<size_t> DoFirst(const ReportModel& model) {
  const Advice& advice = *model.advice;
  if (const auto root = BeforeSavings(model)) return root;
  const Whole whole = WholeOf(model);
  const Weighed savings = WeighSavings(advice, whole);
  if (savings.of_communication && savings.starting > kStartOfRanks * whole.total) return savings.start_up;
  if (const auto kernel = KernelBeforeSavings(advice, whole, savings)) return kernel;
  if (savings.best) return savings.best;
  if (savings.start_up) return savings.start_up;
  const auto root = OnMostOfTheLoss(model, advice.Roots());
  if (root && !IsTest(advice, whole)) return root;
  const auto other = WithoutSaving(model, whole);
  return savings.note && (!other || !IsWarning(advice, *other)) ? savings.note : other;
}

HeadlineText Headline(const ReportModel& model) {
  const Advice& advice = *model.advice;
  const auto first = DoFirst(model);
  const std::string order = first ? "first, " + FirstThing(advice.findings[*first]) : "";
  const std::string doubt = DoubtText(model);
  if (const ReportTable* training = TrainingAlone(model))
    return {doubt + TrainingText(*training) + "; ",
            first ? order + "." : "a trace shows where that time goes."};
  if (const ReportTable* serving = ServingAlone(model))
    return {doubt + ServingText(*serving) + "; ", first ? order + "." : "a trace shows where its time goes."};
  if (const ReportTable* telemetry = TelemetryAlone(model))
    return {doubt + TelemetryText(model, *telemetry) + "; ",
            first ? order + "." : "a trace shows where that time goes."};
  if (!HasGpuWork(model)) {
    if (!doubt.empty()) return {doubt + "What is there holds no GPU work.", ""};
    if (first && FindingOf(advice, "other-accelerator"))
      return {"The work is on an accelerator that is not read; ", order + "."};
    if (UsesNoGpu(model))
      return {first ? "The program uses no GPU; " : "The program uses no GPU.", first ? order + "." : ""};
    const auto none = FindingOf(advice, "no-gpu-work");
    if (CalledNoGpu(model))
      return {std::string("No GPU work was recorded: the program made no CUDA call while it was traced") +
                  (none ? "; " : "."),
              none ? fmt::format("first, {}.", FirstThing(advice.findings[*none])) : ""};
    // Calls of the program were recorded: the flags were right.
    if (const auto lost = FindingOf(advice, "gpu-trace-missing"))
      return {"Launches were recorded, and nothing of the GPU; ",
              fmt::format("first, {}.", FirstThing(advice.findings[*lost]))};
    if (const auto counted = FindingOf(advice, "counters-profiled"))
      return {"Hardware counters were profiled, not times; ",
              fmt::format("first, {}.", FirstThing(advice.findings[*counted]))};
    // What another capture with more options would not show.
    if (none && !advice.findings[*none].recommendation.empty() &&
        !advice.findings[*none].recommendation.front().FirstSentence().starts_with("Profile again with"))
      return {"No GPU work was recorded; ", fmt::format("first, {}.", FirstThing(advice.findings[*none]))};
    const std::vector<std::string> flags = CaptureFlags(model);
    return {std::string("No GPU work was recorded") +
                (flags.empty() ? std::string(".")
                               : fmt::format("; profile again with {}.",
                                             fmt::join(flags, flags[0].starts_with("--") ? " " : ", "))),
            ""};
  }
  if (NoKernelAtAll(model)) return {doubt + "No kernel was recorded; ", first ? order + "." : ""};
  const bool counts = std::ranges::none_of(
      kDoubts, [&](const Doubt& d) { return !d.keeps_figures && FindingOf(advice, d.rule); });
  if (!counts && first) return {doubt, order + "."};
  const auto host = HostAloneForMostOfTheTime(advice);
  const std::string alone = host && host->root == first
                                ? fmt::format("; for {} of the program's time only the host computes",
                                              FormatValue(host->share, Unit::kRatio))
                                : "";
  const std::string loss = doubt + LossText(model, first) + alone;
  if (!first) {
    const bool advised = !advice.Roots().empty();
    return {fmt::format("{}; {} ({}).", loss,
                        advised ? "no rule found a loss to fix, only notes" : "no rule found what to fix",
                        CoverageText(advice)),
            ""};
  }
  const Finding saving = Claiming(advice, *first);
  // Profiling again saves nothing of what the program loses.
  const Finding& begun = advice.findings[*first];
  const bool claims = &MostSaving(advice, *first) == &begun || !IsOnCapture(advice, begun);
  const std::string saved = claims && alone.empty() ? SavingText(model, saving) : "";
  if (saved.empty()) return {loss + "; ", order + "."};
  return {loss + "; ", fmt::format("{}, which saves {}{}.", order, saved, ShareText(model, saving))};
}

}  // namespace dladvisor
