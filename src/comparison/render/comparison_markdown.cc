// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/render/comparison_markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/comparison/render/comparison_rows.h"
#include "src/gate/render/wording.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

constexpr size_t kMostRows = 24, kMostFindings = 24, kMostOfCell = 160;

std::string Cell(const std::string& text) {
  return EscapeMarkdown(Ellipsize(Visible(OneLine(text)), kMostOfCell));
}

std::string ProseCell(const std::string& text) {
  return ProseMarkdown(Ellipsize(Visible(OneLine(text)), 700));
}

void MoreLine(std::string& text, size_t count, size_t shown) {
  if (count > shown) text += fmt::format("\n… and {} more.\n", count - shown);
}

void WriteMarkdownTable(std::string& text, const ComparisonTable& table, const RunsCompared& compared) {
  text += fmt::format("\n### {}, {}\n\n| Name | A | B | Change | Relative |\n|---|--:|--:|--:|--:|\n",
                      table.title, UnitTitle(compared));
  for (size_t i = 0; i < std::min(kMostRows, table.rows.size()); ++i) {
    const ComparisonRow& row = table.rows[i];
    text += fmt::format(
        "| {}{} | {} | {} | {} | {} |\n", Cell(row.name), row.note.empty() ? "" : "<br>" + Cell(row.note),
        ValueText(row.before_ns, Unit::kNanoseconds, "–"), ValueText(row.after_ns, Unit::kNanoseconds, "–"),
        DifferenceText(row), RelativeText(row));
  }
  MoreLine(text, table.rows.size(), kMostRows);
}

}  // namespace

std::string RenderComparisonMarkdown(const RunsCompared& compared, const std::string& generator) {
  std::string text = fmt::format("**{}**\n", ProseCell(compared.headline));
  if (!compared.reasons.empty()) text += "\n";
  for (const std::string& reason : compared.reasons) text += "- " + ProseCell(reason) + "\n";
  for (const std::string& note : compared.notes) text += "\n" + ProseCell(note) + "\n";
  text +=
      fmt::format("\n- A: {}\n- B: {}\n", Cell(SideLine(compared.before)), Cell(SideLine(compared.after)));
  for (const ComparisonTable& table : TablesOf(compared)) WriteMarkdownTable(text, table, compared);
  if (!compared.figures.empty())
    text += "\n### Figures of the Whole Runs\n\n| | A | B | Change |\n|---|--:|--:|--:|\n";
  for (const FigureRow& row : FigureRows(compared))
    text += fmt::format("| {} | {} | {} | {} |\n", Cell(row.title), row.before, row.after, row.change);
  if (!compared.findings.empty())
    text +=
        "\n### Findings\n\n| | Severity | Rule | Problem | Recommendation | Saves "
        "|\n|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < std::min(kMostFindings, compared.findings.size()); ++i) {
    const RuleVerdict& finding = compared.findings[i].finding;
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n",
                        finding.change == RuleVerdict::Change::kStill ? "both" : ChangeName(finding.change),
                        SeverityName(finding.severity), Cell(finding.rule), ProseCell(finding.problem.text),
                        finding.recommendation.empty() ? "" : ProseCell(finding.recommendation[0]),
                        SavingChange(compared.findings[i]));
  }
  MoreLine(text, compared.findings.size(), kMostFindings);
  if (!compared.differences.empty()) text += "\n### What Else Differs\n\n| | A | B |\n|---|---|---|\n";
  for (size_t i = 0; i < std::min(kMostRows, compared.differences.size()); ++i) {
    const Difference& difference = compared.differences[i];
    text += fmt::format("| {} | {} | {} |\n", Cell(difference.title), Cell(difference.baseline),
                        Cell(difference.candidate));
  }
  MoreLine(text, compared.differences.size(), kMostRows);
  return text + "\n<sub>" + Cell(generator) + "</sub>\n";
}

}  // namespace dladvisor
