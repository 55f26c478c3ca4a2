// SPDX-License-Identifier: Apache-2.0
#include "engine/store/scan_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "engine/store/cell_test.h"
#include "engine/store/text_filter.h"

namespace dladvisor {
namespace {

// From so many rows on an order is not left to SQLite, which sorts rows of its own, and a join is worth an
// index.
constexpr double kOrderedRows = 1000, kIndexedRows = 10'000;
// Shares of the rows of one value of the sorted column in which another column has a certain value: names are
// many, but integers are often as few as a rank's devices. Taking them for many would have SQLite search all
// rows of a third table for each that are found.
constexpr double kRowsPerText = 1e-4, kRowsPerInteger = 0.1;
// Above, what RowOrder keeps of each row would be too much.
constexpr double kMostOrderedRows = 16e6;

// Whether what a constraint asks for can be compared with cells as they are.
bool CanBeTested(const Schema& schema, sqlite3_index_info* info, int i) {
  const auto& constraint = info->aConstraint[i];
  if (!constraint.usable || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ || constraint.iColumn < 0 ||
      sqlite3_vtab_in(info, i, -1))  // the rows would be in the order of the list
    return false;
  switch (schema.columns[static_cast<size_t>(constraint.iColumn)].type) {
    case Type::kInteger:
      return true;
    case Type::kReal:
      return false;
    case Type::kText:
      return std::string_view(sqlite3_vtab_collation(info, i)) == "BINARY";
  }
  return false;
}

// What stands for a constraint that TextFilter takes; 0 for others.
char TextSignOf(const Schema& schema, sqlite3_index_info* info, int i) {
  const auto& constraint = info->aConstraint[i];
  if (!constraint.usable || constraint.iColumn < 0 ||
      schema.columns[static_cast<size_t>(constraint.iColumn)].type != Type::kText)
    return 0;
  if (constraint.op == SQLITE_INDEX_CONSTRAINT_LIKE) return TextFilter::kLike;
  return constraint.op == SQLITE_INDEX_CONSTRAINT_REGEXP ? TextFilter::kRegexp : '\0';
}

// Whether rows are to be given in the order that the statement asks for.
bool CanBeOrdered(const RowEstimate& estimate, sqlite3_index_info* info) {
  if (info->nOrderBy == 0 || info->orderByConsumed || !estimate.is_exact || estimate.rows < kOrderedRows ||
      estimate.rows > kMostOrderedRows ||
      sqlite3_vtab_distinct(info) >= 2)  // SQLite needs no order to find equal rows
    return false;
  return std::all_of(info->aOrderBy, info->aOrderBy + info->nOrderBy,
                     [](const auto& term) { return term.iColumn >= 0; });
}

}  // namespace

int PlanScan(const Relation& relation, const RowEstimate& estimate, sqlite3_index_info* info) {
  const Schema& schema = relation.schema();
  info->estimatedCost = estimate.rows + 1;
  info->estimatedRows = static_cast<sqlite3_int64>(estimate.rows) + 1;
  const std::optional<size_t> sorted = relation.SortedColumn();
  const int sorted_column = sorted ? static_cast<int>(*sorted) : -2;  // -1 is the number of the row
  int equal = -1, lower = -1, upper = -1, flags = 0;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (!constraint.usable || constraint.iColumn != sorted_column) continue;
    switch (constraint.op) {
      case SQLITE_INDEX_CONSTRAINT_EQ:
      case SQLITE_INDEX_CONSTRAINT_IS:  // the column has no NULL
        equal = i;
        break;
      case SQLITE_INDEX_CONSTRAINT_GE:
      case SQLITE_INDEX_CONSTRAINT_GT:
        lower = i;
        break;
      case SQLITE_INDEX_CONSTRAINT_LE:
      case SQLITE_INDEX_CONSTRAINT_LT:
        upper = i;
        break;
      default:
        break;
    }
  }
  int argument = 0;
  // SQLite tests a constraint again, so that the search need only be a superset, but for equal integers,
  // which are found exactly: reading their cells for a test takes as long as reading all others.
  const auto use = [&](int constraint, int flag) {
    info->aConstraintUsage[constraint].argvIndex = ++argument;
    flags |= flag;
  };
  if (equal >= 0) {
    use(equal, ScanBounds::kEqual);
    info->aConstraintUsage[equal].omit = 1;
    info->estimatedCost = estimate.per_value + 8;
    info->estimatedRows = static_cast<sqlite3_int64>(estimate.per_value);
  } else {
    if (lower >= 0) use(lower, ScanBounds::kLower);
    if (upper >= 0) use(upper, ScanBounds::kUpper);
    if (argument > 0) info->estimatedCost = info->estimatedCost / (argument == 2 ? 16 : 4) + 1;
  }
  std::string plan;
  double selectivity = 1;  // of those that are tested
  for (int i = 0; i < info->nConstraint; ++i) {
    if (info->aConstraint[i].iColumn == sorted_column || !CanBeTested(schema, info, i)) continue;
    info->aConstraintUsage[i].argvIndex = ++argument;
    plan += fmt::format("={}\n", info->aConstraint[i].iColumn);
    const bool is_text =
        schema.columns[static_cast<size_t>(info->aConstraint[i].iColumn)].type == Type::kText;
    info->aConstraintUsage[i].omit = !is_text;
    selectivity *= is_text ? kRowsPerText : kRowsPerInteger;
  }
  const bool is_tested = !plan.empty();
  for (int i = 0; i < info->nConstraint; ++i) {
    if (info->aConstraint[i].iColumn == sorted_column || info->aConstraintUsage[i].argvIndex > 0) continue;
    if (const char sign = TextSignOf(schema, info, i); sign != 0) {
      info->aConstraintUsage[i].argvIndex = ++argument;
      plan += fmt::format("{}{}\n", sign, info->aConstraint[i].iColumn);
      continue;
    }
    const char sign = CellTest::SignOf(schema, info, i);
    if (sign == 0) continue;
    if (CellTest::TakesValue(sign)) info->aConstraintUsage[i].argvIndex = ++argument;
    plan += fmt::format("{}{}\n", sign, info->aConstraint[i].iColumn);
  }
  // Among the rows of one value of the sorted column a further search is worth an index where they are many.
  if (is_tested && (equal >= 0 ? estimate.per_value : estimate.rows) >= kIndexedRows) {
    flags |= ScanBounds::kIndexed;
    const double found = equal >= 0 ? estimate.per_value * selectivity : estimate.per_value;
    info->estimatedCost = found + 16;
    info->estimatedRows = static_cast<sqlite3_int64>(found) + 1;
  }
  info->idxNum = flags;
  if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn == sorted_column && !info->aOrderBy[0].desc)
    info->orderByConsumed = 1;
  if (CanBeOrdered(estimate, info)) {
    for (int i = 0; i < info->nOrderBy; ++i)
      plan += fmt::format("{}{}\n", info->aOrderBy[i].desc ? '-' : '+', info->aOrderBy[i].iColumn);
    info->orderByConsumed = 1;
  }
  if (plan.empty()) return SQLITE_OK;
  info->idxStr = sqlite3_mprintf("%s", plan.c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

}  // namespace dladvisor
