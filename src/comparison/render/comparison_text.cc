// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/render/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "src/comparison/render/comparison_rows.h"
#include "src/gate/render/wording.h"
#include "src/render/escape.h"
#include "src/render/text_writer.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxLedger = 12, kMaxTextRows = 6, kMaxTextFindings = 6, kMaxDifferences = 10;
constexpr size_t kNameColumns = 52, kNumberColumns = 12;

void WriteMore(TextWriter& out, size_t count, size_t shown) {
  if (count > shown) out.Line(fmt::format("  … and {} more.", count - shown));
}

void WriteHeads(TextWriter& out) {
  out.Line(Left("", kNameColumns + 2) + Right("A", kNumberColumns) + Right("B", kNumberColumns) +
           Right("change", kNumberColumns));
}

void WriteTable(TextWriter& out, const ComparisonTable& table, const RunsCompared& compared) {
  out.Heading(table.title + ", " + UnitTitle(compared));
  WriteHeads(out);
  const size_t shown = table.id == "time-ledger" ? kMaxLedger : kMaxTextRows;
  std::map<std::string, std::set<std::string>> named;  // by what a line shows of them
  for (size_t i = 0; i < std::min(shown, table.rows.size()); ++i)
    named[Ellipsize(Visible(table.rows[i].name), out.width() - 2)].insert(table.rows[i].name);
  for (size_t i = 0; i < std::min(shown, table.rows.size()); ++i) {
    const ComparisonRow& row = table.rows[i];
    // A name too long for its column has a line of its own, so that it can be told from others.
    std::string name = Visible(row.name);
    if (Columns(name) > kNameColumns) {
      const std::string cut = Ellipsize(name, out.width() - 2);
      if (named[cut].size() > 1)
        out.Wrapped("  ", name);
      else
        out.Line("  " + cut);
      name.clear();
    }
    const std::string relative = RelativeText(row);
    out.Line("  " + Left(name, kNameColumns) +
             Right(ValueText(row.before_ns, Unit::kNanoseconds, "–"), kNumberColumns) +
             Right(ValueText(row.after_ns, Unit::kNanoseconds, "–"), kNumberColumns) +
             Right(DifferenceText(row), kNumberColumns) + (relative.empty() ? "" : "  " + relative));
    if (!row.note.empty()) out.Line("    " + Ellipsize(Visible(row.note), out.width() - 4));
  }
  WriteMore(out, table.rows.size(), shown);
}

void WriteFigures(TextWriter& out, const RunsCompared& compared) {
  if (compared.figures.empty()) return;
  out.Heading("Figures of the Whole Runs");
  WriteHeads(out);
  for (const FigureRow& row : FigureRows(compared))
    out.Line("  " + Left(row.title, kNameColumns) + Right(row.before, kNumberColumns) +
             Right(row.after, kNumberColumns) +
             (row.change.empty() ? "" : Right(row.change, kNumberColumns + 13)));
}

void WriteFindings(TextWriter& out, const RunsCompared& compared) {
  for (const auto& [change, title] :
       {std::pair{RuleVerdict::Change::kNew, "New Findings"},
        std::pair{RuleVerdict::Change::kVisible, "Findings That A Could Not Show"},
        std::pair{RuleVerdict::Change::kGone, "Gone Findings"},
        std::pair{RuleVerdict::Change::kStill, "Findings of Both"}}) {
    std::vector<const FindingChange*> findings;
    for (const FindingChange& finding : compared.findings)
      if (finding.finding.change == change) findings.push_back(&finding);
    if (findings.empty()) continue;
    out.Heading(title);
    for (size_t i = 0; i < std::min(kMaxTextFindings, findings.size()); ++i) {
      const RuleVerdict& finding = findings[i]->finding;
      const std::string saving = SavingChange(*findings[i]);
      // What both say is known; of the others the problem itself is worth its lines.
      const std::string text = change == RuleVerdict::Change::kStill ? finding.title : finding.problem.text;
      out.Wrapped("  • ", Prose(text));
      if (change != RuleVerdict::Change::kStill && change != RuleVerdict::Change::kGone &&
          !finding.recommendation.empty())
        out.Wrapped("    → ", Prose(finding.recommendation[0]));
      out.Wrapped(
          "    ",
          fmt::format("{}[{}]", saving.empty() ? "" : "saves " + saving + "  ", Visible(finding.rule)), "2");
    }
    WriteMore(out, findings.size(), kMaxTextFindings);
  }
}

}  // namespace

std::string RenderComparisonText(const RunsCompared& compared, const std::string& generator,
                                 TextStyle style) {
  TextWriter out(style);
  out.Wrapped("", Prose(compared.headline), "1");
  for (const std::string& reason : compared.reasons) out.Wrapped("  • ", Prose(reason));
  for (const std::string& note : compared.notes) out.Wrapped("  ", Prose(note), "2");
  out.Line();
  out.Wrapped("A  ", Visible(SideLine(compared.before)));
  out.Wrapped("B  ", Visible(SideLine(compared.after)));
  for (const ComparisonTable& table : TablesOf(compared)) WriteTable(out, table, compared);
  WriteFigures(out, compared);
  WriteFindings(out, compared);
  if (!compared.differences.empty()) out.Heading("What Else Differs");
  for (size_t i = 0; i < std::min(kMaxDifferences, compared.differences.size()); ++i) {
    const Difference& difference = compared.differences[i];
    out.Wrapped("  • ", fmt::format("{}: {} → {}", Prose(difference.title),
                                    Ellipsize(Prose(difference.baseline), 200),
                                    Ellipsize(Prose(difference.candidate), 200)));
    if (!difference.note.empty()) out.Wrapped("    ", Prose(difference.note), "2");
  }
  WriteMore(out, compared.differences.size(), kMaxDifferences);
  out.Line();
  out.Line(out.Styled(generator, "2"));
  return out.Take();
}

}  // namespace dladvisor
