// SPDX-License-Identifier: Apache-2.0
// What the report asks of the relations: one SELECT for each figure and table, in order of display, from the
// files of templates/queries. The same text goes into the report beside the answer, so that every number can
// be checked with `dladvisor query`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/value.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

struct FigureQuery {
  std::string id, label;
  Unit unit;
  std::string relation, column;  // the fact it rests on, whose declaration says how to capture it
  std::string sql;               // gives at most one row: the value, and perhaps why it is NULL
  std::string unknown_because;   // where that fact is NULL and no other capture would supply it
};

struct TableQuery {
  std::string id, title, note;
  std::string relation;
  std::string sql;
  std::string needs = {};       // asked only where the profiler records it: "operators", or "" for all
  bool only_with_rows = false;  // else the report does not speak of it
  size_t max_rows = kMaxReportRows;
};

const std::vector<FigureQuery>& FigureQueries();
const std::vector<TableQuery>& TableQueries();

// GPUs whose ledger is drawn; max_rows of time_ledger.sql has room for every bucket of each.
inline constexpr size_t kDrawnLedgers = 64;

// The files of templates/queries, in order of display.
std::span<const std::string_view> QueryFiles();

}  // namespace dladvisor
