// SPDX-License-Identifier: Apache-2.0
// How columns of tables are called and their cells written.
#pragma once

#include <string>
#include <vector>

#include "engine/store/database.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

enum class ColumnKind { kText, kName, kNumber, kSeconds, kShare, kBoolean };

struct ColumnStyle {
  std::string label;  // "GPU Time"
  Unit unit = Unit::kNone;
  ColumnKind kind = ColumnKind::kText;
};

// By the column's name, which the relations use alike everywhere; the unit of `column` wins where it has one.
ColumnStyle StyleOf(const ResultColumn& column);

// As a table shows it: nanoseconds as "3.07 s", places in time in seconds as "3.073524", booleans as ✓ ✗ ?,
// NULL as "–".
std::string CellText(const Value& value, const ColumnStyle& style);

// Columns worth showing: not `rank` and `device` where all rows agree and the run has just one, nor
// `not_compared` where all are.
std::vector<size_t> ShownColumns(const ReportModel& model, const ReportTable& table);

}  // namespace dladvisor
