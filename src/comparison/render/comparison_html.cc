// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/render/comparison_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "src/comparison/render/comparison_rows.h"
#include "src/gate/render/wording.h"
#include "src/render/bucket_words.h"
#include "src/render/color.h"
#include "src/render/escape.h"
#include "src/render/svg.h"
#include "src/render/template.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxRows = 100, kMaxFindings = 50, kMaxName = 360, kMaxText = 1000;

std::string Short(std::string_view text, size_t columns = kMaxText) {
  return Ellipsize(Visible(OneLine(text)), columns);
}

data More(size_t count, size_t shown) {
  return count > shown ? data{fmt::format("{} more.", count - shown)} : data{false};
}

data Texts(const std::vector<std::string>& texts) {
  data items{data::type::list};
  for (size_t i = 0; i < std::min(texts.size(), kMaxRows); ++i)
    items << data{"html", ProseHtml(Short(texts[i]))};
  return items;
}

double StepOf(const ComparisonRow& row) {
  return std::abs(row.after_ns.value_or(0) - row.before_ns.value_or(0));
}

data Rows(const ComparisonTable& table) {
  double most = 0;
  std::map<std::string, std::set<std::string>> named;  // by what is shown of them
  for (const ComparisonRow& row : table.rows) {
    most = std::max(most, StepOf(row));
    named[Short(row.name, kMaxName)].insert(row.name);
  }
  data items{data::type::list};
  for (size_t i = 0; i < std::min(table.rows.size(), kMaxRows); ++i) {
    const ComparisonRow& row = table.rows[i];
    const double before = row.before_ns.value_or(0), after = row.after_ns.value_or(0);
    data item;
    item.set("color", table.id == "time-ledger" ? data{ColorOf(row.name)} : data{false});
    // Where cut names are alike, they are not cut.
    const std::string name = Short(row.name, kMaxName);
    item.set("name", named[name].size() == 1 ? name : Visible(OneLine(row.name)));
    item.set("whole", TextOrFalse(Short(row.whole)));
    item.set("note", TextOrFalse(Short(row.note, kMaxName)));
    item.set("before", ValueText(row.before_ns, Unit::kNanoseconds, "–"));
    item.set("after", ValueText(row.after_ns, Unit::kNanoseconds, "–"));
    item.set("direction", after > before ? "worse" : after < before ? "better" : "same");
    item.set("width", fmt::format("{:.1f}", most > 0 ? StepOf(row) / most * 100 : 0));
    item.set("step", DifferenceText(row));
    item.set("change", RelativeText(row));
    items << item;
  }
  return items;
}

data Bars(const RunsCompared& compared) {
  std::vector<BucketChange> ledger = compared.ledger;
  std::ranges::stable_sort(ledger, IsDrawnBefore, &BucketChange::bucket);
  double totals[2] = {0, 0};
  std::vector<Segment> sides[2];
  for (const BucketChange& bucket : ledger)
    for (const int side : {0, 1})
      if (const double ns = side == 0 ? bucket.before_ns : bucket.after_ns; ns > 0) {
        sides[side].push_back({Short(bucket.bucket, kMaxName), ns, FormatValue(ns, Unit::kNanoseconds),
                               ColorOf(bucket.bucket)});
        totals[side] += ns;
      }
  const double most = std::max(totals[0], totals[1]);
  data bars{data::type::list};
  for (const int side : {0, 1}) {
    if (!(totals[side] > 0)) continue;
    const std::string label = side == 0 ? "A" : "B";
    data bar;
    bar.set("label", label);
    bar.set("total", FormatValue(totals[side], Unit::kNanoseconds));
    bar.set("width", fmt::format("{:.2f}", totals[side] / most * 100));
    bar.set("svg", StackedBar("ledger-" + label, "Time ledger of run " + label, sides[side]));
    bars << bar;
  }
  return bars;
}

data Tables(const std::vector<ComparisonTable>& tables, const RunsCompared& compared) {
  const data bars = Bars(compared);
  data items{data::type::list};
  for (const ComparisonTable& table : tables) {
    data item;
    item.set("section_id", table.id);
    item.set("section_title", fmt::format("{}, {}", table.title, UnitTitle(compared)));
    item.set("bars", table.id == "time-ledger" ? bars : data{false});
    item.set("rows", Rows(table));
    item.set("more", More(table.rows.size(), kMaxRows));
    items << item;
  }
  return items;
}

data Figures(const RunsCompared& compared) {
  data items{data::type::list};
  for (const FigureRow& row : FigureRows(compared)) {
    data item;
    item.set("title", row.title);
    item.set("before", row.before);
    item.set("after", row.after);
    item.set("change", row.change);
    items << item;
  }
  return items;
}

data Finding(const FindingChange& change) {
  const RuleVerdict& rule = change.finding;
  const std::string saving = SavingChange(change);
  data item;
  item.set("severity", std::string(SeverityName(rule.severity)));
  item.set("problem", ProseHtml(Short(rule.problem.text)));
  item.set("fails", false);
  item.set("saving", TextOrFalse(saving));
  item.set("subject", TextOrFalse(Short(SubjectText(rule.subjects), kMaxName)));
  item.set("rule", Short(rule.rule, kMaxName));
  item.set("source", rule.source_file.empty()
                         ? data{false}
                         : data{fmt::format("{}:{}", Short(rule.source_file, kMaxName), rule.source_line)});
  item.set("recommendations", Texts(rule.recommendation));
  return item;
}

data FindingGroups(const RunsCompared& compared) {
  data groups{data::type::list};
  for (const auto& [change, title] : {std::pair{RuleVerdict::Change::kNew, "New in B"},
                                      std::pair{RuleVerdict::Change::kVisible, "Visible in B alone"},
                                      std::pair{RuleVerdict::Change::kGone, "Gone in B"},
                                      std::pair{RuleVerdict::Change::kStill, "In both"}}) {
    data findings{data::type::list};
    size_t count = 0;
    for (const FindingChange& finding : compared.findings)
      if (finding.finding.change == change && ++count <= kMaxFindings) findings << Finding(finding);
    if (count == 0) continue;
    data group;
    group.set("group_title", title);
    group.set("count", CountText(count, "finding"));
    group.set("open", change != RuleVerdict::Change::kStill);
    group.set("findings", findings);
    group.set("more", More(count, kMaxFindings));
    groups << group;
  }
  return groups;
}

data Differences(const RunsCompared& compared) {
  data items{data::type::list};
  for (size_t i = 0; i < std::min(compared.differences.size(), kMaxRows); ++i) {
    const Difference& difference = compared.differences[i];
    data item;
    item.set("title", Short(difference.title, kMaxName));
    item.set("note", TextOrFalse(Short(difference.note)));
    item.set("before", Short(difference.baseline, kMaxName));
    item.set("after", Short(difference.candidate, kMaxName));
    item.set("blocks", false);
    items << item;
  }
  return items;
}

}  // namespace

std::string RenderComparisonHtml(const RunsCompared& compared, const std::string& generator) {
  const std::vector<ComparisonTable> tables = TablesOf(compared);
  const data groups = FindingGroups(compared);
  data sections{data::type::list};
  const auto section = [&](const std::string& id, const std::string& title) {
    data item;
    item.set("section_id", id);
    item.set("section_title", title);
    sections << item;
  };
  for (const ComparisonTable& table : tables) section(table.id, table.title);
  if (!compared.figures.empty()) section("figures", "Figures of the whole runs");
  if (!groups.is_empty_list()) section("findings", "Findings");
  if (!compared.differences.empty()) section("differences", "Differences");

  data page;
  for (const char* part : {"change", "finding_changes", "gate_finding", "differences"})
    page.set(std::string(part) + "_part", Template(fmt::format("parts/{}.html", part)));
  page.set("style", Template("style.css"));
  page.set("generator", Visible(generator));
  page.set("headline", ProseHtml(Short(compared.headline)));
  page.set("has_reasons", !compared.reasons.empty());
  page.set("reasons", Texts(compared.reasons));
  page.set("notes", Texts(compared.notes));
  page.set("before_side", Short(SideLine(compared.before)));
  page.set("after_side", Short(SideLine(compared.after)));
  page.set("sections", sections);
  page.set("tables", Tables(tables, compared));
  page.set("has_figures", !compared.figures.empty());
  page.set("figures", Figures(compared));
  page.set("before_label", "A");
  page.set("after_label", "B");
  page.set("has_findings", !groups.is_empty_list());
  page.set("finding_groups", groups);
  page.set("has_differences", !compared.differences.empty());
  page.set("differences", Differences(compared));
  page.set("differences_more", More(compared.differences.size(), kMaxRows));
  return RenderTemplate("compare.html", page, EscapeHtml);
}

}  // namespace dladvisor
