// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/gate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "src/gate/render/wording.h"
#include "src/render/escape.h"
#include "src/render/text_writer.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxPassing = 4;  // metrics of a gate that passed
constexpr size_t kMaxMetrics = 30, kMaxBucketLines = 8, kMaxNames = 5, kMaxFindingLines = 6, kMaxRuns = 4,
                 kMaxDifferences = 8, kMaxNotes = 8;

const char* StyleOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegressed:
    case Verdict::kNotComparable:
      return "1;31";
    case Verdict::kInconclusive:
      return "1;33";
    case Verdict::kPass:
    case Verdict::kImproved:
      break;
  }
  return "1;32";
}

const char* StyleOf(const GateResult& result) {
  return result.exit_status != 0 ? "1;31" : StyleOf(result.verdict);
}

bool Passed(const GateResult& result) {
  return result.exit_status == 0 &&
         (result.verdict == Verdict::kPass || result.verdict == Verdict::kImproved);
}

void WriteMore(TextWriter& out, size_t count, size_t shown) {
  if (count > shown) out.Line(fmt::format("  … and {} more.", count - shown));
}

void WriteSide(TextWriter& out, const char* label, const Side& side) {
  std::string names;
  for (size_t i = 0; i < std::min(side.runs.size(), kMaxRuns); ++i)
    names += (i == 0 ? "" : ", ") + Ellipsize(Visible(side.runs[i]), 60);
  if (side.runs.size() > kMaxRuns) names += fmt::format(" and {} more", side.runs.size() - kMaxRuns);
  out.Wrapped(Left(label, 11), SideText(side) + (names.empty() ? "" : ": " + names), "2");
}

void WriteMetrics(TextWriter& out, const GateResult& result) {
  std::vector<const MetricVerdict*> metrics;
  for (const MetricVerdict& metric : result.metrics)
    if (metric.level != Level::kOff) metrics.push_back(&metric);
  if (metrics.empty()) return;
  const size_t shown = std::min(metrics.size(), Passed(result) ? kMaxPassing : kMaxMetrics);
  size_t width = 10;  // of a value: rates are longer than times
  for (size_t i = 0; i < shown; ++i)
    for (const auto& value : {metrics[i]->baseline, metrics[i]->candidate})
      width = std::max(width, Columns(ValueText(value, metrics[i]->unit)));
  out.Line(out.Styled(fmt::format("  {}{} {} {} {} {}  Verdict", Left("Metric", 20), Right("Baseline", width),
                                  Right("Candidate", width), Right("Change", 9), Right("Interval", 18),
                                  Right("Detectable", 10)),
                      "2"));
  for (size_t i = 0; i < shown; ++i) {
    const MetricVerdict& metric = *metrics[i];
    out.Line(fmt::format("  {}{} {} {} {} {}  {}", Left(Ellipsize(Visible(metric.title), 20), 20),
                         Right(ValueText(metric.baseline, metric.unit), width),
                         Right(ValueText(metric.candidate, metric.unit), width),
                         Right(TextOr(PercentText(metric.change), "unknown"), 9),
                         Right(TextOr(IntervalText(metric), "–"), 18),
                         Right(TextOr(PercentText(metric.detectable), "–"), 10),
                         out.Styled(VerdictText(metric), StyleOf(metric.verdict))));
  }
  WriteMore(out, metrics.size(), shown);
}

void WriteReasons(TextWriter& out, const GateResult& result) {
  size_t shown = 0;
  for (const MetricVerdict& metric : result.metrics) {
    if (metric.level == Level::kOff || metric.verdict == Verdict::kPass || ++shown > kMaxMetrics) continue;
    std::string text = Prose(metric.why);
    if (const std::string budget = BudgetText(metric); !budget.empty()) text += " Budget: " + budget + ".";
    if (!metric.noise.empty()) text += " Noise: " + Prose(metric.noise) + ".";
    if (!metric.not_gated.empty()) text += " Not gated: " + Prose(metric.not_gated) + ".";
    if (!text.empty()) out.Wrapped("  ", Ellipsize(Visible(metric.title), 40) + ": " + text);
  }
}

void WriteExplanation(TextWriter& out, const GateResult& result, const char* prefix, const char* title,
                      size_t most) {
  const auto metrics = ExplainedBy(result, prefix);
  if (metrics.empty()) return;
  out.Line(out.Styled("  " + Left(title, 46) + "  Baseline  Candidate Difference    Change", "2"));
  for (size_t i = 0; i < std::min(metrics.size(), most); ++i) {
    const MetricVerdict& metric = *metrics[i];
    out.Line(fmt::format("  {}{} {} {} {}", Left(Ellipsize(Visible(NameWithin(metric)), 46), 46),
                         Right(ValueText(metric.baseline, metric.unit, "–"), 10),
                         Right(ValueText(metric.candidate, metric.unit, "–"), 10),
                         Right(StepText(metric), 10), Right(PercentText(metric.change), 9)));
  }
  if (metrics.size() > most)
    out.Line(fmt::format("  … and {} more that changed less.", metrics.size() - most));
}

void WriteFinding(TextWriter& out, const RuleVerdict& rule) {
  const std::string subject = SubjectText(rule.subjects), saving = SavingText(rule);
  const char* style = Fails(rule) ? "1;31" : rule.severity == Severity::kInfo ? "1;34" : "1;33";
  out.Wrapped("  • ", Prose(rule.problem.text) + (subject.empty() ? "" : " (" + Prose(subject) + ")"), style);
  if (!rule.recommendation.empty()) out.Wrapped("    → ", Prose(rule.recommendation[0]));
  out.Line(fmt::format("    {}{}{}  [{}]", saving.empty() ? "" : out.Styled("saves " + saving, "32") + "  ",
                       Fails(rule)   ? "fails the gate, "
                       : Warns(rule) ? "warns, "
                                     : "",
                       SeverityName(rule.severity), Ellipsize(Visible(rule.rule), 32)));
}

void WriteFindings(TextWriter& out, const GateResult& result) {
  auto fresh = RulesThatAre(result, RuleVerdict::Change::kNew);
  const auto still = RulesThatAre(result, RuleVerdict::Change::kStill);
  const auto gone = RulesThatAre(result, RuleVerdict::Change::kGone);
  const auto write = [&](const std::string& title, const std::vector<const RuleVerdict*>& rules) {
    if (rules.empty()) return;
    out.Heading(fmt::format("{} ({})", title, rules.size()));
    for (size_t i = 0; i < std::min(rules.size(), kMaxFindingLines); ++i) WriteFinding(out, *rules[i]);
    WriteMore(out, rules.size(), kMaxFindingLines);
  };
  write("New Findings", fresh);
  write("Rules Not Evaluated", RulesThatAre(result, RuleVerdict::Change::kNotEvaluated));
  write("Newly Visible Findings", RulesThatAre(result, RuleVerdict::Change::kVisible));
  std::vector<const RuleVerdict*> failing, warning;
  std::ranges::copy_if(still, std::back_inserter(failing), [](const auto* rule) { return Fails(*rule); });
  std::ranges::copy_if(still, std::back_inserter(warning), [](const auto* rule) { return Warns(*rule); });
  write("Findings of Both Sides that Fail the Gate", failing);
  write("Findings of Both Sides that Warn", warning);
  if (!gone.empty()) {
    out.Heading(fmt::format("Gone Findings ({})", gone.size()));
    for (size_t i = 0; i < std::min(gone.size(), kMaxFindingLines); ++i)
      out.Wrapped("  • ", fmt::format("{}  [{}]", Prose(gone[i]->problem.text), Visible(gone[i]->rule)),
                  "32");
    WriteMore(out, gone.size(), kMaxFindingLines);
  }
  if (still.size() > failing.size() + warning.size()) {
    out.Line();
    out.Line(fmt::format("  {} fire{} on both sides{}.", CountText(still.size(), "finding"),
                         still.size() == 1 ? "s" : "", failing.empty() && warning.empty() ? "" : " in all"));
  }
}

void WriteTrends(TextWriter& out, const GateResult& result) {
  std::vector<const Trend*> shown;
  for (const Trend& trend : result.trends)
    if (trend.level != Level::kOff && trend.verdict != Verdict::kPass && !trend.why.empty())
      shown.push_back(&trend);
  if (shown.empty()) return;
  out.Heading("Trend");
  for (const Trend* trend : shown)
    out.Wrapped("  ", Ellipsize(Visible(trend->title), 40) + ": " + Prose(trend->why),
                Fails(*trend) ? "1;31" : nullptr);
}

void WriteDifferences(TextWriter& out, const GateResult& result) {
  if (result.differences.empty()) return;
  out.Heading("Differences of the Sides");
  for (const Difference& difference : result.differences) {
    out.Wrapped(
        "  • ",
        fmt::format("{}: {} → {}{}", Prose(difference.title), Ellipsize(Prose(difference.baseline), 200),
                    Ellipsize(Prose(difference.candidate), 200),
                    difference.blocks ? "  [" + Visible(difference.trait) + "]" : ""),
        difference.blocks ? "1;31" : nullptr);
    if (!difference.note.empty()) out.Wrapped("    ", Prose(difference.note));
  }
  WriteMore(out, result.differences.size(), kMaxDifferences);
}

// What a gate that passed says of findings, in a line.
std::string FindingsInShort(const GateResult& result) {
  std::string text;
  for (const auto& [change, phrase] : {std::pair{RuleVerdict::Change::kNew, "new"},
                                       std::pair{RuleVerdict::Change::kVisible, "newly visible"},
                                       std::pair{RuleVerdict::Change::kGone, "gone"},
                                       std::pair{RuleVerdict::Change::kStill, "on both sides"}}) {
    const size_t count = RulesThatAre(result, change).size();
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, phrase);
    if (count > 0 && change == RuleVerdict::Change::kNew) {
      std::set<std::string> rules;
      for (const RuleVerdict* rule : RulesThatAre(result, change)) rules.insert(rule->rule);
      text += fmt::format(" ({})", fmt::join(rules, ", "));
    }
  }
  return text.empty() ? "" : "Findings: " + text + ".";
}

// GitHub runs "::error::" at the start of a line, and "##[error]", be they of a kernel's name.
std::string WithoutWorkflowCommands(const std::string& text) {
  std::string guarded;
  bool at_start = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((at_start && text.compare(i, 2, "::") == 0) || text.compare(i, 3, "##[") == 0) guarded += "|";
    at_start = text[i] == '\n' || (at_start && text[i] == ' ');
    guarded += text[i];
  }
  return guarded;
}

}  // namespace

std::string RenderGateText(const GateResult& result, TextStyle style) {
  TextWriter out(style);
  out.Wrapped("", OutcomeText(result) + ": " + Prose(result.headline), StyleOf(result));
  if (Passed(result)) {
    WriteMetrics(out, result);
    if (const std::string text = FindingsInShort(result); !text.empty()) out.Line("  " + text);
    for (const auto change : {RuleVerdict::Change::kNew, RuleVerdict::Change::kNotEvaluated,
                              RuleVerdict::Change::kVisible, RuleVerdict::Change::kStill})
      for (const RuleVerdict* rule : RulesThatAre(result, change))
        if (Warns(*rule)) WriteFinding(out, *rule);
    WriteTrends(out, result);
    if (!result.differences.empty())
      out.Line("  " + CountText(result.differences.size(), "difference") + " of the sides: see the report.");
    for (size_t i = 0; i < std::min(result.notes.size(), kMaxNotes); ++i)
      out.Wrapped("  ", Prose(result.notes[i]), "2");
    WriteMore(out, result.notes.size(), kMaxNotes);
    if (!result.next_step.empty()) out.Wrapped("→ ", Prose(result.next_step), "1");
    return WithoutWorkflowCommands(out.Take());
  }
  out.Line();
  WriteSide(out, "Baseline", result.baseline);
  WriteSide(out, "Candidate", result.candidate);
  if (result.verdict == Verdict::kNotComparable) WriteDifferences(out, result);
  if (!result.metrics.empty()) out.Heading("Verdicts");
  WriteMetrics(out, result);
  WriteReasons(out, result);
  if (!result.changes.empty()) out.Heading("What Changed");
  for (const std::string& change : result.changes) out.Wrapped("  • ", Prose(change));
  if (std::ranges::any_of(result.explanation, [](const MetricVerdict& metric) {
        return metric.metric.starts_with("ledger.time/") || metric.metric.starts_with("op.time/") ||
               metric.metric.starts_with("kernel.time/");
      })) {
    out.Heading("What Explains It, per Step");
    WriteExplanation(out, result, "ledger.time/", "Time Ledger", kMaxBucketLines);
    WriteExplanation(out, result, "op.time/", "Ops", kMaxNames);
    WriteExplanation(out, result, "kernel.time/", "Kernels", kMaxNames);
  }
  WriteTrends(out, result);
  WriteFindings(out, result);
  if (result.verdict != Verdict::kNotComparable) WriteDifferences(out, result);
  if (!result.notes.empty()) out.Heading("Notes");
  for (size_t i = 0; i < std::min(result.notes.size(), kMaxNotes); ++i)
    out.Wrapped("  • ", Prose(result.notes[i]));
  WriteMore(out, result.notes.size(), kMaxNotes);
  if (!result.next_step.empty()) {
    out.Line();
    out.Wrapped("→ ", Prose(result.next_step), "1");
  }
  return WithoutWorkflowCommands(out.Take());
}

}  // namespace dladvisor
