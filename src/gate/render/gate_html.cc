// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/gate_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/gate/render/trend_chart.h"
#include "src/gate/render/wording.h"
#include "src/render/bucket_words.h"
#include "src/render/color.h"
#include "src/render/escape.h"
#include "src/render/kernel_label.h"
#include "src/render/svg.h"
#include "src/render/template.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxRows = 100, kMaxFindings = 50, kMaxBuckets = 32;
constexpr size_t kMaxName = 360, kMaxText = 1000, kMaxWhole = 2000;
constexpr size_t kKernelColumns = 64;  // of a kernel, until one opens it

std::string Short(std::string_view text, size_t columns = kMaxText) {
  return Ellipsize(Visible(OneLine(text)), columns);
}

data ProseOrFalse(const std::string& text) {
  return text.empty() ? data{false} : data{ProseHtml(Short(text))};
}

data More(size_t count, size_t shown) {
  return count > shown ? data{fmt::format("{} more.", count - shown)} : data{false};
}

// "worse", "better" or "same", with "worse" where more of it is.
std::string Direction(const MetricVerdict& metric) {
  const double before = metric.baseline.value_or(0), after = metric.candidate.value_or(0);
  if (!(before < after) && !(after < before)) return "same";
  return (after > before) == metric.lower_is_better ? "worse" : "better";
}

// The interval of a change on a scale that all metrics share, with a line where nothing changed.
std::string IntervalPlot(const MetricVerdict& metric, double most) {
  const auto known = [](const std::optional<double>& value) { return value && std::isfinite(*value); };
  if (!known(metric.change) || !(most > 0)) return "";
  const auto x = [&](double change) { return 80 + std::clamp(change / most, -1.0, 1.0) * 74; };
  const std::string direction = Direction(metric);
  const char* color = metric.verdict == Verdict::kPass ? "c-other"
                      : direction == "worse"           ? "c-idle1"
                                                       : "c-tensor";
  std::string svg = R"(<svg class="interval" viewBox="0 0 160 18" aria-hidden="true">)";
  svg += R"(<line class="zero" x1="80" x2="80" y1="0" y2="18"/>)";
  if (known(metric.low) && known(metric.high))
    svg += fmt::format(R"(<line class="range {}" x1="{:.1f}" x2="{:.1f}" y1="9" y2="9"/>)", color,
                       x(*metric.low), std::max(x(*metric.high), x(*metric.low) + 1));
  return svg +
         fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="9" r="3.5"/></svg>)", color, x(*metric.change));
}

double WidestChange(const GateResult& result) {
  double most = 0;
  for (const MetricVerdict& metric : result.metrics)
    for (const auto& value : {metric.change, metric.low, metric.high})
      if (value && std::isfinite(*value)) most = std::max(most, std::abs(*value));
  return std::min(most, 1.0);
}

std::string Noise(const MetricVerdict& metric) {
  std::string text;
  const auto add = [&](const char* label, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{}: {}.", text.empty() ? "" : " ", label, value);
  };
  add("Budget", BudgetText(metric));
  add("Noise", metric.noise);
  add("Not gated", metric.not_gated);
  return text;
}

data Metrics(const GateResult& result, const std::vector<const MetricVerdict*>& metrics) {
  const double most = WidestChange(result);
  data items{data::type::list};
  for (size_t i = 0; i < std::min(metrics.size(), kMaxRows); ++i) {
    const MetricVerdict& metric = *metrics[i];
    const std::string change = PercentText(metric.change), least = PercentText(metric.detectable);
    const bool passes = metric.verdict == Verdict::kPass;
    const bool both = metric.baseline && metric.candidate;
    data item;
    item.set("title", Short(metric.title, kMaxName));
    item.set("why", ProseOrFalse(metric.why));
    item.set("noise", ProseOrFalse(Noise(metric)));
    item.set("before", ValueText(metric.baseline, metric.unit));
    item.set("after", ValueText(metric.candidate, metric.unit));
    item.set("direction", passes || !both ? "same" : Direction(metric));
    item.set("change", change.empty() ? "unknown" : change);
    item.set("plot", IntervalPlot(metric, most));
    item.set("interval", TextOrFalse(IntervalText(metric)));
    item.set("detectable", least.empty() ? "–" : least);
    item.set("css", VerdictClass(metric.verdict));
    item.set("verdict", VerdictText(metric));
    item.set("level", !metric.not_gated.empty()                 ? data{"not gated"}
                      : metric.level == Level::kWarn && !passes ? data{"warning only"}
                                                                : data{false});
    items << item;
  }
  return items;
}

double StepOf(const MetricVerdict& metric) {
  const double step = metric.candidate.value_or(0) - metric.baseline.value_or(0);
  return std::isfinite(step) ? std::abs(step) : 0;
}

// `kernels`: by their short names, which one opens.
data Changes(const std::vector<const MetricVerdict*>& metrics, size_t shown, bool colored,
             bool kernels = false) {
  double most = 0;
  std::vector<std::string> names;
  for (const MetricVerdict* metric : metrics) names.emplace_back(NameWithin(*metric));
  const auto labels = kernels ? KernelLabels(names, kKernelColumns) : std::map<std::string, std::string>();
  for (const MetricVerdict* metric : metrics) most = std::max(most, StepOf(*metric));
  data items{data::type::list};
  for (size_t i = 0; i < std::min(metrics.size(), shown); ++i) {
    const MetricVerdict& metric = *metrics[i];
    data item;
    item.set("color", colored ? data{ColorOf(NameWithin(metric))} : data{false});
    const auto label = labels.find(names[i]);
    const std::string name = label == labels.end() ? names[i] : label->second;
    item.set("name", Short(name, kMaxName));
    item.set("whole", name == names[i] ? data{false} : data{Short(names[i], kMaxWhole)});
    item.set("note", false);
    item.set("before", ValueText(metric.baseline, metric.unit, "–"));
    item.set("after", ValueText(metric.candidate, metric.unit, "–"));
    item.set("direction", Direction(metric));
    item.set("width", fmt::format("{:.1f}", most > 0 ? StepOf(metric) / most * 100 : 0));
    item.set("step", StepText(metric));
    item.set("change", PercentText(metric.change));
    items << item;
  }
  return items;
}

// Buckets of one side: computing first, idle last; what the ledger lacks of the step is its own.
std::vector<Segment> LedgerSide(const std::vector<const MetricVerdict*>& ledger, bool candidate,
                                double whole) {
  std::vector<Segment> segments;
  double total = 0;
  for (const MetricVerdict* metric : ledger) {
    const double value = (candidate ? metric->candidate : metric->baseline).value_or(0);
    if (!(value > 0) || !std::isfinite(value)) continue;
    const std::string name = Short(NameWithin(*metric), kMaxName);
    segments.push_back({name, value, FormatValue(value, Unit::kNanoseconds), ColorOf(name)});
    total += value;
  }
  std::ranges::stable_sort(segments, IsDrawnBefore, &Segment::label);
  if (const double rest = whole - total; rest > 0.0005 * whole)
    segments.push_back({"not listed", rest, FormatValue(rest, Unit::kNanoseconds), "c-other"});
  return segments;
}

data LedgerBars(const GateResult& result, const std::vector<const MetricVerdict*>& ledger) {
  double whole[2] = {0, 0};
  for (const MetricVerdict& metric : result.metrics)
    if (metric.metric == "step.time") {
      whole[0] = metric.baseline.value_or(0);
      whole[1] = metric.candidate.value_or(0);
    }
  double totals[2] = {0, 0};
  std::vector<Segment> sides[2];
  for (const int side : {0, 1}) {
    sides[side] = LedgerSide(ledger, side == 1, std::isfinite(whole[side]) ? whole[side] : 0);
    for (const Segment& segment : sides[side]) totals[side] += segment.value;
  }
  const double most = std::max(totals[0], totals[1]);
  data bars{data::type::list};
  for (const int side : {0, 1}) {
    const std::string label = side == 0 ? "Baseline" : "Candidate";
    data bar;
    bar.set("label", label);
    bar.set("total", FormatValue(totals[side], Unit::kNanoseconds));
    bar.set("width", fmt::format("{:.2f}", most > 0 ? totals[side] / most * 100 : 100));
    bar.set("svg",
            StackedBar(fmt::format("ledger-{}", side), "Time ledger of a step, " + label, sides[side]));
    bars << bar;
  }
  return bars;
}

data ChangeSections(const GateResult& result) {
  data sections{data::type::list};
  for (const auto& [prefix, id, title] :
       {std::tuple{"op.time/", "ops", "Ops"}, std::tuple{"kernel.time/", "kernels", "Kernels"}}) {
    const auto metrics = ExplainedBy(result, prefix);
    if (metrics.empty()) continue;
    data section;
    section.set("section_id", id);
    section.set("section_title", title);
    section.set("rows", Changes(metrics, kMaxRows, false, std::string_view(id) == "kernels"));
    section.set("more", More(metrics.size(), kMaxRows));
    sections << section;
  }
  return sections;
}

data Finding(const RuleVerdict& rule) {
  data recommendations{data::type::list};
  for (const std::string& text : rule.recommendation) recommendations << data{"html", ProseHtml(Short(text))};
  data item;
  item.set("severity", std::string(SeverityName(rule.severity)));
  item.set("problem", ProseHtml(Short(rule.problem.text)));
  item.set("fails", Fails(rule));
  item.set("saving", TextOrFalse(SavingText(rule)));
  item.set("subject", TextOrFalse(Short(SubjectText(rule.subjects), kMaxName)));
  item.set("rule", Short(rule.rule, kMaxName));
  item.set("source", rule.source_file.empty()
                         ? data{false}
                         : data{fmt::format("{}:{}", Short(rule.source_file, kMaxName), rule.source_line)});
  item.set("recommendations", recommendations);
  return item;
}

data FindingGroups(const GateResult& result) {
  data groups{data::type::list};
  for (const auto& [change, title] : {std::pair{RuleVerdict::Change::kNew, "New"},
                                      std::pair{RuleVerdict::Change::kNotEvaluated, "Not evaluated"},
                                      std::pair{RuleVerdict::Change::kVisible, "Newly visible"},
                                      std::pair{RuleVerdict::Change::kGone, "Gone"},
                                      std::pair{RuleVerdict::Change::kStill, "On both sides"}}) {
    const auto rules = RulesThatAre(result, change);
    if (rules.empty()) continue;
    data findings{data::type::list};
    for (size_t i = 0; i < std::min(rules.size(), kMaxFindings); ++i) findings << Finding(*rules[i]);
    const bool counts =
        std::ranges::any_of(rules, [](const auto* rule) { return Fails(*rule) || Warns(*rule); });
    data group;
    group.set("group_title", title);
    group.set("count",
              CountText(rules.size(), change == RuleVerdict::Change::kNotEvaluated ? "rule" : "finding"));
    group.set("open", counts || change <= RuleVerdict::Change::kNotEvaluated);
    group.set("findings", findings);
    group.set("more", More(rules.size(), kMaxFindings));
    groups << group;
  }
  return groups;
}

data Trends(const std::vector<const Trend*>& trends) {
  data items{data::type::list};
  for (size_t i = 0; i < trends.size(); ++i) {
    const Trend& trend = *trends[i];
    data steps{data::type::list};
    for (const std::string& text : TrendSteps(trend)) steps << data{"text", text};
    data item;
    item.set("title", Short(trend.title, kMaxName));
    item.set("css", VerdictClass(trend.verdict));
    item.set("verdict", std::string(VerdictName(trend.verdict)));
    item.set("level", trend.level == Level::kWarn && trend.verdict != Verdict::kPass ? data{"warning only"}
                                                                                     : data{false});
    item.set("why", ProseOrFalse(trend.why));
    item.set("svg", TrendChart(fmt::format("trend-{}", i), trend));
    item.set("first_level", FormatValue(FirstLevel(trend), trend.unit));
    item.set("runs", CountText(trend.points.size(), "run"));
    item.set("has_steps", !steps.is_empty_list());
    item.set("steps", steps);
    items << item;
  }
  return items;
}

data Differences(const GateResult& result) {
  data items{data::type::list};
  for (size_t i = 0; i < std::min(result.differences.size(), kMaxRows); ++i) {
    const Difference& difference = result.differences[i];
    data item;
    item.set("title", Short(difference.title, kMaxName));
    item.set("note", TextOrFalse(Short(difference.note)));
    item.set("before", Short(difference.baseline, kMaxName));
    item.set("after", Short(difference.candidate, kMaxName));
    item.set("blocks", difference.blocks);
    item.set("trait", Short(difference.trait, kMaxName));
    items << item;
  }
  return items;
}

data Sides(const GateResult& result) {
  data items{data::type::list};
  for (const auto& [label, side] :
       {std::pair{"Baseline", &result.baseline}, std::pair{"Candidate", &result.candidate}}) {
    std::string runs = SideText(*side);
    for (size_t i = 0; i < std::min(side->runs.size(), kMaxRows); ++i)
      runs += (i == 0 ? ": " : ", ") + Short(side->runs[i], kMaxName);
    if (side->runs.size() > kMaxRows) runs += fmt::format(" and {} more", side->runs.size() - kMaxRows);
    data item;
    item.set("label", label);
    item.set("runs", runs);
    items << item;
  }
  return items;
}

data Sentences(const std::vector<std::string>& sentences) {
  data items{data::type::list};
  for (size_t i = 0; i < std::min(sentences.size(), kMaxRows); ++i)
    items << data{"html", ProseHtml(Short(sentences[i]))};
  return items;
}

template <class T>
std::vector<const T*> Shown(const std::vector<T>& items) {
  std::vector<const T*> shown;
  for (const T& item : items)
    if (item.level != Level::kOff) shown.push_back(&item);
  return shown;
}

data PageData(const GateResult& result) {
  const auto metrics = Shown(result.metrics);
  const auto trends = Shown(result.trends);
  const auto ledger = ExplainedBy(result, "ledger.time/");
  const data findings = FindingGroups(result), differences = Differences(result);
  const bool blocked = result.verdict == Verdict::kNotComparable;
  size_t fresh = RulesThatAre(result, RuleVerdict::Change::kNew).size();

  data sections{data::type::list};
  const auto section = [&](const char* id, const char* title, bool has, const std::string& count = "") {
    if (!has) return;
    data item;
    item.set("section_id", id);
    item.set("section_title", title);
    item.set("count", TextOrFalse(count));
    sections << item;
  };
  section("verdicts", "Verdicts", !metrics.empty());
  section("time-ledger", "Time Ledger", !ledger.empty());
  section("ops", "Ops", !ExplainedBy(result, "op.time/").empty());
  section("kernels", "Kernels", !ExplainedBy(result, "kernel.time/").empty());
  section("trends", "Trend", !trends.empty());
  section("findings", "Findings", !findings.is_empty_list(), fresh > 0 ? fmt::format("{} new", fresh) : "");
  section("differences", "Differences", !result.differences.empty());
  section("runs", "Runs and Notes", true);

  data page;
  for (const char* part : {"change", "finding_changes", "gate_finding", "differences"})
    page.set(std::string(part) + "_part", Template(fmt::format("parts/{}.html", part)));
  page.set("style", Template("style.css"));
  page.set("generator", Visible(result.generator));
  page.set("outcome", OutcomeText(result));
  page.set("outcome_class", VerdictClass(result.exit_status == 1 ? Verdict::kRegressed : result.verdict));
  page.set("headline", ProseHtml(Short(result.headline)));
  page.set("next_step", ProseOrFalse(result.next_step));
  page.set("baseline", SideText(result.baseline));
  page.set("candidate", SideText(result.candidate));
  page.set("sections", sections);
  page.set("has_metrics", !metrics.empty());
  page.set("metrics", Metrics(result, metrics));
  page.set("metrics_more", More(metrics.size(), kMaxRows));
  page.set("has_ledger", !ledger.empty());
  page.set("bars", LedgerBars(result, ledger));
  page.set("ledger", Changes(ledger, kMaxBuckets, true));
  page.set("changes", ChangeSections(result));
  page.set("has_trends", !trends.empty());
  page.set("trends", Trends(trends));
  page.set("has_findings", !findings.is_empty_list());
  page.set("finding_groups", findings);
  page.set("differences_first", blocked && !result.differences.empty());
  page.set("differences_last", !blocked && !result.differences.empty());
  page.set("before_label", "Baseline");
  page.set("after_label", "Candidate");
  page.set("differences", differences);
  page.set("differences_more", More(result.differences.size(), kMaxRows));
  page.set("sides", Sides(result));
  page.set("has_what_changed", !result.changes.empty());
  page.set("what_changed", Sentences(result.changes));
  page.set("has_notes", !result.notes.empty());
  page.set("notes", Sentences(result.notes));
  return page;
}

}  // namespace

std::string RenderGateHtml(const GateResult& result) {
  return RenderTemplate("gate.html", PageData(result), EscapeHtml);
}

}  // namespace dladvisor
