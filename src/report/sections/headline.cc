// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/headline.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/report/sections/claim.h"
#include "src/report/sections/do_first.h"
#include "src/report/sections/findings_section.h"
#include "src/report/sections/headline_without_gpu.h"
#include "src/report/sections/host_alone.h"
#include "src/report/sections/loss_text.h"
#include "src/report/sections/program_section.h"
#include "src/report/sections/serving_section.h"
#include "src/report/sections/span_section.h"
#include "src/report/sections/summary_section.h"
#include "src/report/sections/telemetry_section.h"
#include "src/report/sections/training_section.h"

namespace dladvisor {
namespace {

// What a log without a finding leaves to measure first, in the words of the rule on such files.
std::string NextMeasurement(const Advice& advice, std::string_view rule) {
  const auto alone = FindingOf(advice, rule);
  return alone ? fmt::format("first, {}.", FirstThing(advice.findings[*alone]))
               : "a trace shows where that time goes.";
}

// What the output of a program leaves to do: one whose time was over has more to lose than its pace.
std::string NextOfProgram(const Advice& advice) {
  return NextMeasurement(
      advice, FindingOf(advice, "program-out-of-time") ? "program-out-of-time" : "program-figures");
}

// What the first thing is about, as a sentence of its own before it, where the headline is on something else;
// of several tables of a text, with that which it is of.
std::string MatterOf(const Finding& finding) {
  std::string text = ". " + WithoutFullStop(finding.problem.FirstSentence());
  const auto place = std::ranges::find(finding.lets, "place", &NamedValue::name);
  const auto* of = place == finding.lets.end() ? nullptr : std::get_if<std::string>(&place->value);
  return of == nullptr || text.find(*of) != std::string::npos ? text : text + *of;
}

// Whether it is on computing, where the headline names what is lost: nothing that it saves is said beside it.
bool IsOnComputing(const Advice& advice, const Finding& finding) {
  const auto rule = std::ranges::find(advice.rules, finding.rule, &RuleSummary::id);
  return rule != advice.rules.end() && rule->category == "compute" && !finding.saves;
}

}  // namespace

HeadlineText Headline(const ReportModel& model) {
  const Advice& advice = *model.advice;
  const auto first = DoFirst(model);
  const std::string order = first ? "first, " + FirstThing(advice.findings[*first]) : "";
  const std::string doubt = DoubtText(model);
  if (const ReportTable* training = TrainingAlone(model))
    return {doubt + TrainingText(*training) + "; ",
            first ? order + "." : NextMeasurement(advice, "training-log-only")};
  if (const ReportTable* serving = ServingAlone(model)) {
    const std::string next = HasRequests(*serving) ? "a trace shows where its time goes."
                                                   : "take the log while it answers requests.";
    return {doubt + ServingText(*serving) + BusyBeside(model) + "; ", first ? order + "." : next};
  }
  if (const ReportTable* spans = SpansAlone(model))
    return {doubt + SpansText(*spans) + "; ", first ? order + "." : "mark what passes within them."};
  if (const ReportTable* summary = SummaryAlone(model)) {
    const bool other = first && !IsOnMostOf(*summary, advice.findings[*first]);
    return {doubt + SummaryText(*summary) + (other ? MatterOf(advice.findings[*first]) : "") + "; ",
            first ? order + "." : NextMeasurement(advice, "summary-only")};
  }
  if (const ReportTable* program = ProgramAlone(model)) {
    if (!first && IsTableOfResults(*program)) return {doubt + ProgramText(*program) + ".", ""};
    return {doubt + ProgramText(*program) + "; ", first ? order + "." : NextOfProgram(advice)};
  }
  if (const ReportTable* telemetry = TelemetryAlone(model))
    return {doubt + TelemetryText(model, *telemetry) + "; ",
            first ? order + "."
            : FindingOf(advice, "telemetry-busy")
                ? "there is work all the time, and a trace shows which kernels take it."
            : IsOneLook(*telemetry) ? "log them over a minute of the work, not once."
            : HasBusyShare(model) || !IsNull(MultiprocessorsAtWork(model))
                ? "a trace shows where that time goes."
                : "log how busy they are, too (utilization.gpu of nvidia-smi)."};
  if (!HasGpuWork(model)) return HeadlineWithoutGpu(model, first, order, doubt);
  if (NoKernelAtAll(model)) return {doubt + "No kernel was recorded; ", first ? order + "." : ""};
  if (!FiguresHold(advice) && first) return {doubt, order + "."};
  const auto host = HostAloneForMostOfTheTime(advice);
  const bool host_first = host && host->root == first;
  const std::string then = first ? OutsideGpuTime(model, *first) : "";
  const std::string alone = host_first || !then.empty()
                                ? fmt::format("; for {} of the program's time only the host computes",
                                              FormatValue(host->share, Unit::kRatio))
                                : "";
  const std::string loss = doubt +
                           (first && OnlyAsksForMore(advice.findings[*first])
                                ? ColdCallText(model, advice.findings[*first])
                                : LossText(model, first ? MostSaving(advice, *first).saves : std::nullopt)) +
                           alone;
  if (!first) {
    const bool advised = !advice.Roots().empty();
    return {fmt::format("{}; {} ({}).", loss,
                        advised ? "no rule found a loss to fix, only notes" : "no rule found what to fix",
                        CoverageText(advice)),
            ""};
  }
  if (SavesLittle(model, MostSaving(advice, *first)) && LossAwaitsAnotherCapture(model))
    return {loss + "; ",
            fmt::format("first, find that reason; then {}.", FirstThing(advice.findings[*first]))};
  const Finding saving = AsRecorded(ClaimingOfAlike(advice, *first));
  // What a symptom saves is by its own advice, and not by that on its cause.
  const bool claims = &MostSaving(advice, *first) == &advice.findings[*first];
  const std::string now = SavingText(model, saving);
  std::string saved, later;
  if (claims && !host_first) {
    const Finding& most = MostSaving(advice, *first);
    saved = now;
    if (most.saves && IsBehindLosses(*most.saves)) {
      saved = now.empty() ? "next to nothing now" : now + " now";
      later = fmt::format(", {} without idle time", SavingText(model, ClaimingOfAlike(advice, *first)));
    }
  }
  const std::string_view rule = advice.findings[*first].rule;
  const bool outside = host_first || rule == "program-failed" || rule == "managed-without-wait";
  if (saved.empty() && !outside && IsOnComputing(advice, advice.findings[*first]))
    return {loss + MatterOf(advice.findings[*first]) + "; ", order + then + "."};
  if (saved.empty()) return {loss + "; ", order + (outside ? WithinGpuTime(model, *first) : then) + "."};
  return {loss + "; ", fmt::format("{}, which saves {}{}{}{}.", order, saved, ShareText(model, saving), later,
                                   then.empty() ? AfterStartUp(model, *first) : then)};
}

}  // namespace dladvisor
