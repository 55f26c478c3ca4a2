// SPDX-License-Identifier: Apache-2.0
// What the report asks of the relations: one SELECT for each figure and table, from the files of
// templates/queries, whose names have the order of display. The same text goes into the report beside the
// answer, so that every number can be checked with `dladvisor query`.
#pragma once

#include <string>
#include <vector>

#include "engine/base/value.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

struct FigureQuery {
  std::string id, label;
  Unit unit;
  std::string relation, column;   // the fact it rests on, whose declaration says how to capture it
  std::string sql;                // gives at most one row: the value, and perhaps why it is NULL
  std::string unknown_because;    // where that fact is NULL and no other capture would supply it
  bool only_where_known = false;  // else the report says why it is unknown
};

struct TableQuery {
  std::string id, title, note;
  std::string relation;
  std::string sql;
  std::string needs = {};       // asked only where the profiler records it: "operators", or "" for all
  bool only_with_rows = false;  // else the report does not speak of it
  size_t max_rows = kMaxReportRows;
  bool is_listed = false;  // and no more is made of it: rows that are not shown need not be read
};

// A part of the HTML that one opens: the tables that name it as theirs.
struct ReportView {
  std::string id, title;  // "time-ledger", "Time Ledger"
  std::string drawn;      // name of the drawing above its tables (html_views.cc), or ""
  std::vector<std::string> tables;
};

const std::vector<FigureQuery>& FigureQueries();
const std::vector<TableQuery>& TableQueries();
const std::vector<ReportView>& ReportViews();

// GPUs whose ledger is drawn; max_rows of time_ledger has room for every bucket of each.
inline constexpr size_t kDrawnLedgers = 64;

}  // namespace dladvisor
