// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/gate_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "src/gate/render/wording.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

constexpr size_t kMostRows = 64;
constexpr size_t kMaxCell = 160;

std::string Cell(const std::string& text, size_t columns = kMaxCell) {
  return EscapeMarkdown(Ellipsize(Visible(OneLine(text)), columns));
}

const char* SignOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegressed:
      return "❌ ";
    case Verdict::kNotComparable:
      return "⛔ ";
    case Verdict::kInconclusive:
      return "⚠️ ";
    case Verdict::kImproved:
      return "🟢 ";
    case Verdict::kPass:
      break;
  }
  return "✅ ";
}

// What is worse but does not fail the gate is a warning.
const char* SignOf(Verdict verdict, bool fails) {
  const bool bad = verdict == Verdict::kRegressed || verdict == Verdict::kNotComparable;
  return SignOf(bad && !fails ? Verdict::kInconclusive : verdict);
}

Verdict VerdictOf(const GateResult& result) {
  return result.exit_status == 1 ? Verdict::kRegressed : result.verdict;
}

class Comment {
 public:
  Comment(const GateResult& result, size_t rows) : result_(result), rows_(rows) {}

  std::string Write() {
    text_ = fmt::format("**{}{}:** {}\n", SignOf(VerdictOf(result_)), OutcomeText(result_),
                        Prose(result_.headline));
    if (!result_.next_step.empty()) text_ += "\n" + Prose(result_.next_step) + "\n";
    if (result_.verdict == Verdict::kNotComparable) Differences();
    Metrics();
    Trends();
    WhatChanged();
    Explanation();
    Findings();
    if (result_.verdict != Verdict::kNotComparable) Differences();
    Runs();
    text_ += "\n<sub>" + Cell(result_.generator) + "</sub>\n";
    return std::move(text_);
  }

 private:
  // Of few rows, none may fill the comment.
  std::string Prose(const std::string& text) const {
    return ProseMarkdown(Ellipsize(Visible(OneLine(text)), rows_ > 4 ? 700 : 240));
  }
  // `row` makes the row of an item; only those that are shown are made.
  template <class T, class F>
  void Table(const char* header, const std::vector<T>& items, bool numbers, F row) {
    text_ += fmt::format("\n{}\n|---|", header);
    for (auto bars = std::ranges::count(std::string_view(header), '|'); bars > 2; --bars)
      text_ += numbers ? "--:|" : "---|";
    text_ += "\n";
    for (const T& item : First(items)) text_ += row(item) + "\n";
    More(items.size());
  }
  template <class T>
  std::span<const T> First(const std::vector<T>& items) const {
    return std::span(items).first(std::min(items.size(), rows_));
  }
  void More(size_t count) {
    if (count > rows_) text_ += fmt::format("\n… and {} more.\n", count - rows_);
  }
  void Open(const std::string& summary, bool open = false) {
    text_ += fmt::format("\n<details{}><summary>{}</summary>\n", open ? " open" : "", summary);
  }
  void Close() { text_ += "\n</details>\n"; }

  std::string Reason(const MetricVerdict& metric) const {
    std::string reason = Prose(metric.why);
    const auto add = [&](const char* label, const std::string& text) {
      if (!text.empty()) reason += fmt::format("{}{}: {}.", reason.empty() ? "" : " ", label, text);
    };
    add("Budget", BudgetText(metric));
    add("Noise", Prose(metric.noise));
    add("Not gated", Prose(metric.not_gated));
    return reason;
  }

  void Metrics() {
    std::vector<const MetricVerdict*> metrics;
    for (const MetricVerdict& metric : result_.metrics)
      if (metric.level != Level::kOff) metrics.push_back(&metric);
    if (metrics.empty()) return;
    Table("| Metric | Baseline | Candidate | Change | Interval | Detectable | Verdict |", metrics, true,
          [&](const MetricVerdict* metric) {
            std::string verdict = SignOf(metric->verdict, Fails(result_, *metric)) + VerdictText(*metric);
            if (metric->level == Level::kWarn && Warns(result_, *metric)) verdict += " (warning)";
            if (!metric->not_gated.empty()) verdict += " (not gated)";
            return fmt::format(
                "| {} | {} | {} | {} | {} | {} | {} |", Cell(metric->title),
                ValueText(metric->baseline, metric->unit), ValueText(metric->candidate, metric->unit),
                TextOr(PercentText(metric->change), "unknown"), TextOr(IntervalText(*metric), "–"),
                TextOr(PercentText(metric->detectable), "–"), verdict);
          });
    Open("Why, and what was taken for noise");
    text_ +=
        "\nThe interval is where the true change lies; *detectable* is the regression that four of five "
        "gates of as many new runs find whose steps vary as these do, where noise is known and not "
        "assumed.\n\n";
    for (const MetricVerdict* metric : First(metrics))
      if (const std::string reason = Reason(*metric); !reason.empty())
        text_ += "- **" + Cell(metric->title) + "**: " + reason + "\n";
    More(metrics.size());
    Close();
  }

  void Trends() {
    std::vector<const Trend*> shown;
    for (const Trend& trend : result_.trends)
      if (trend.level != Level::kOff && trend.verdict != Verdict::kPass && !trend.why.empty())
        shown.push_back(&trend);
    for (const Trend* trend : First(shown))
      text_ += fmt::format("\n{}**{}, trend:** {}\n", SignOf(trend->verdict, Fails(*trend)),
                           Cell(trend->title), Prose(trend->why));
    More(shown.size());
  }

  void Explanation() {
    bool first = true;
    for (const auto& [prefix, title] : {std::pair{"ledger.time/", "Time ledger of a step"},
                                        std::pair{"op.time/", "Ops"}, std::pair{"kernel.time/", "Kernels"}}) {
      const auto metrics = ExplainedBy(result_, prefix);
      if (metrics.empty()) continue;
      Open(fmt::format("{}: what changed", title), first && result_.exit_status != 0);
      Table("| Name | Baseline | Candidate | Difference | Change |", metrics, true,
            [](const MetricVerdict* metric) {
              return fmt::format("| {} | {} | {} | {} | {} |", Cell(std::string(NameWithin(*metric))),
                                 ValueText(metric->baseline, metric->unit, "–"),
                                 ValueText(metric->candidate, metric->unit, "–"), StepText(*metric),
                                 PercentText(metric->change));
            });
      Close();
      first = false;
    }
  }

  void Findings() {
    for (const auto& [change, title] : {std::pair{RuleVerdict::Change::kNew, "New findings"},
                                        std::pair{RuleVerdict::Change::kNotEvaluated, "Rules not evaluated"},
                                        std::pair{RuleVerdict::Change::kVisible, "Newly visible findings"},
                                        std::pair{RuleVerdict::Change::kStill, "Findings on both sides"},
                                        std::pair{RuleVerdict::Change::kGone, "Gone findings"}}) {
      const auto rules = RulesThatAre(result_, change);
      if (rules.empty()) continue;
      const bool counts =
          std::ranges::any_of(rules, [](const auto* rule) { return Fails(*rule) || Warns(*rule); });
      Open(fmt::format("{} ({})", title, rules.size()),
           change <= RuleVerdict::Change::kNotEvaluated || counts);
      Table("| Severity | Rule | Problem | Recommendation | Saves |", rules, false,
            [&](const RuleVerdict* rule) {
              const std::string subject = SubjectText(rule->subjects);
              return fmt::format("| {}{} | {} | {}{} | {} | {} |",
                                 Fails(*rule)   ? "❌ "
                                 : Warns(*rule) ? "⚠️ "
                                                : "",
                                 SeverityName(rule->severity), Cell(rule->rule), Prose(rule->problem.text),
                                 subject.empty() ? "" : " (" + Cell(subject) + ")",
                                 rule->recommendation.empty() ? "" : Prose(rule->recommendation[0]),
                                 SavingText(*rule));
            });
      Close();
    }
  }

  void Differences() {
    if (result_.differences.empty()) return;
    Open(fmt::format("Differences of the sides ({})", result_.differences.size()),
         result_.verdict == Verdict::kNotComparable);
    Table("| Trait | Baseline | Candidate | Note |", result_.differences, false,
          [&](const Difference& difference) {
            return fmt::format("| {} | {} | {} | {}{} |", Cell(difference.title), Cell(difference.baseline),
                               Cell(difference.candidate),
                               difference.blocks ? "**prevents the comparison**; `allow` names it " +
                                                       Cell(difference.trait) + ". "
                                                 : "",
                               Prose(difference.note));
          });
    Close();
  }

  void WhatChanged() {
    if (result_.changes.empty()) return;
    Open("What changed");
    text_ += "\n";
    for (const std::string& change : First(result_.changes)) text_ += "- " + Prose(change) + "\n";
    More(result_.changes.size());
    Close();
  }

  void Runs() {
    Open("Runs and notes");
    text_ += "\n";
    for (const auto& [label, side] :
         {std::pair{"Baseline", &result_.baseline}, std::pair{"Candidate", &result_.candidate}}) {
      text_ += fmt::format("- {}: {}", label, SideText(*side));
      std::string separator = ": ";
      for (const std::string& run : First(side->runs)) text_ += std::exchange(separator, ", ") + Cell(run);
      if (side->runs.size() > rows_) text_ += fmt::format(" and {} more", side->runs.size() - rows_);
      text_ += "\n";
    }
    for (const std::string& note : First(result_.notes)) text_ += "- " + Prose(note) + "\n";
    More(result_.notes.size());
    Close();
  }

  const GateResult& result_;
  size_t rows_;
  std::string text_;
};

}  // namespace

std::string RenderGateMarkdown(const GateResult& result) {
  std::string text;
  for (size_t rows = kMostRows; rows > 0; rows /= 2) {
    text = Comment(result, rows).Write();
    if (text.size() <= kMaxCommentSize) break;
  }
  return text;
}

}  // namespace dladvisor
