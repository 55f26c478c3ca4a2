// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/render/comparison_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "src/gate/render/wording.h"
#include "src/render/kernel_label.h"

namespace dladvisor {
namespace {

// A row whose time changes by less than this part of the unit's time, or of the table's largest change, is
// not worth a line.
constexpr double kLeastRowOfUnit = 0.0005, kLeastRowOfLargest = 0.005;
constexpr size_t kLabelColumns = 96;  // of a kernel

double SizeOf(const ComparisonRow& row) {
  return std::abs(row.after_ns.value_or(0) - row.before_ns.value_or(0));
}

using Labels = std::map<std::string, std::string>;

std::string NameText(const Labels& labels, const std::string& name, size_t others) {
  const auto label = labels.find(name);
  return (label == labels.end() ? name : label->second) +
         (others == 0 ? "" : fmt::format(" and {} more", others));
}

ComparisonRow RowOf(const WorkPair& pair, const Labels& labels) {
  const std::string before = NameText(labels, pair.before_name, pair.before_others),
                    after = NameText(labels, pair.after_name, pair.after_others);
  ComparisonRow row;
  row.name = pair.before ? before : after;
  if (const std::string& whole = pair.before ? pair.before_name : pair.after_name;
      !row.name.starts_with(whole))
    row.whole = whole;
  if (pair.matched == MatchedBy::kOperator) row.note = fmt::format("in B {}; matched by operator", after);
  if (pair.matched == MatchedBy::kKind)
    row.note = fmt::format("in B {}; matched by kind, {}", after, pair.kind);
  if (pair.before) {
    row.before_ns = pair.before->ns;
  }
  if (pair.after) {
    row.after_ns = pair.after->ns;
  }
  return row;
}

// `whole`: rows of the same time stand in it, too, unless they are too small to be seen.
ComparisonTable TableOf(const RunsCompared& compared, std::string id, std::string title,
                        std::vector<ComparisonRow> rows, bool whole) {
  ComparisonTable table{std::move(id), std::move(title), {}};
  double largest = 0;
  for (const ComparisonRow& row : rows) largest = std::max(largest, SizeOf(row));
  const double least_of_unit = kLeastRowOfUnit * compared.before.unit_ns.value_or(0),
               least = whole ? least_of_unit : std::max(least_of_unit, kLeastRowOfLargest * largest);
  const bool calls = compared.unit == ComparedUnit::kCall;
  for (ComparisonRow& row : rows) {
    // A call of what one side has alone says nothing of the other.
    const double size = whole ? std::max(row.before_ns.value_or(0), row.after_ns.value_or(0)) : SizeOf(row);
    const bool shown = calls ? row.before_ns && row.after_ns : size > least;
    if (shown) table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<ComparisonRow> RowsOf(const std::vector<WorkPair>& pairs, const Labels& labels = {}) {
  std::vector<ComparisonRow> rows;
  for (const WorkPair& pair : pairs) rows.push_back(RowOf(pair, labels));
  return rows;
}

Labels LabelsOf(const std::vector<WorkPair>& kernels) {
  std::vector<std::string> names;
  for (const WorkPair& kernel : kernels)
    for (const std::string* name : {&kernel.before_name, &kernel.after_name})
      if (!name->empty()) names.push_back(*name);
  return KernelLabels(names, kLabelColumns);
}

}  // namespace

std::vector<ComparisonTable> TablesOf(const RunsCompared& compared) {
  std::vector<ComparisonRow> ledger;
  for (const BucketChange& bucket : compared.ledger) {
    ComparisonRow row;
    row.name = bucket.bucket;
    row.before_ns = bucket.before_ns;
    row.after_ns = bucket.after_ns;
    ledger.push_back(std::move(row));
  }
  std::vector<ComparisonTable> tables;
  const auto add = [&](const char* id, const char* title, std::vector<ComparisonRow> rows,
                       bool whole = false) {
    ComparisonTable table = TableOf(compared, id, title, std::move(rows), whole);
    if (!table.rows.empty()) tables.push_back(std::move(table));
  };
  add("time-ledger", "Time Ledger", std::move(ledger), true);
  add("kinds", "Kernels by Kind", RowsOf(compared.kinds));
  add("operators", "Operators", RowsOf(compared.operators));
  add("shapes", "Operators by Shapes", RowsOf(compared.shapes));
  add("timers", "Timers", RowsOf(compared.timers));
  add("kernels", "Kernels", RowsOf(compared.kernels, LabelsOf(compared.kernels)));
  return tables;
}

std::vector<FigureRow> FigureRows(const RunsCompared& compared) {
  std::vector<FigureRow> rows;
  for (const FigureChange& figure : compared.figures) {
    FigureRow row{figure.title, ValueText(figure.before, figure.unit, "–"),
                  ValueText(figure.after, figure.unit, "–"), ""};
    if (figure.before && figure.after) {
      const double change = *figure.after - *figure.before;
      // Shares differ by points: "12 % more" of a share could be either.
      if (figure.unit == Unit::kRatio)
        row.change = fmt::format("{:+.1f} percentage points", 100 * change);
      else if (*figure.before > 0)
        row.change = PercentText(change / *figure.before);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string UnitTitle(const RunsCompared& compared) {
  switch (compared.unit) {
    case ComparedUnit::kStep:
      return "per step";
    case ComparedUnit::kWindow:
      return "of the analysed time";
    case ComparedUnit::kCall:
      break;
  }
  return "per call";
}

std::string DifferenceText(const ComparisonRow& row) {
  if (!row.before_ns || !row.after_ns) return row.before_ns ? "gone" : "new";
  const double change = *row.after_ns - *row.before_ns;
  return (change < 0 ? "-" : change > 0 ? "+" : "±") + FormatValue(std::abs(change), Unit::kNanoseconds);
}

std::string RelativeText(const ComparisonRow& row) {
  if (!row.before_ns || !row.after_ns || !(*row.before_ns > 0)) return "";
  return PercentText(*row.after_ns / *row.before_ns - 1);
}

std::string SideLine(const ComparedSide& side) {
  std::string text = side.name;
  if (side.ranks > 1) text += ", " + CountText(side.ranks, "rank");
  text += side.steps == 0 ? ", no steady steps" : ", " + CountText(side.steps, "steady step");
  if (side.stddev_ns && side.unit_ns.value_or(0) > 0)
    text += fmt::format(", which vary by {:.1f} %", 100 * *side.stddev_ns / *side.unit_ns);
  return text;
}

std::string SavingChange(const FindingChange& change) {
  const std::string saving = SavingText(change.finding);
  if (saving.empty() || change.finding.change == RuleVerdict::Change::kGone) return "";
  std::string text = saving;
  if (change.saved_before_ns) {
    const std::string before = FormatValue(*change.saved_before_ns, Unit::kNanoseconds);
    if (!(*change.saved_before_ns > 0))
      text += " (in A the saving is counted to another finding)";
    else if (before != FormatValue(change.finding.saves_high_ns.value_or(0), Unit::kNanoseconds))
      text += fmt::format(" (in A up to {})", before);
  }
  return text;
}

}  // namespace dladvisor
