// SPDX-License-Identifier: Apache-2.0
// The report as data, made from relations and advice; the renderers read nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/advice.h"
#include "engine/store/database.h"
#include "src/render/text_writer.h"

namespace dladvisor {

// Rows of a table that the model holds.
inline constexpr size_t kMaxReportRows = 1000;

// Of an hour of a GPU.
struct Price {
  std::optional<double> per_gpu_hour;
  std::string currency;  // as given: "€", "USD"; or ""
};

struct ReportOptions {
  std::string title;      // profile name(s)
  std::string banner;     // a warning over the report, e.g. files that could not be read; or ""
  std::string generator;  // "dladvisor 0.1.0"
  TextStyle text = {};    // of terminal text
  Price price = {};
  size_t shown_rows = kMaxReportRows;  // that the format shows of a table; see TableQuery::is_listed
};

// One figure of the report, with the query that gives it.
struct Figure {
  std::string id, label;  // e.g. "gpu_utilization", "GPU Utilization"
  Value value;
  Unit unit = Unit::kNone;
  std::string sql;
  std::string unknown_because;  // where the value is NULL: why, and how to capture it
};

struct ReportTable {
  std::string id, title, note;
  std::string sql;
  ResultSet rows;          // the first ones, at most kMaxReportRows
  size_t total_rows = 0;   // that the query gives
  std::string scope = {};  // "Of ranks 0, 5, 13 of 960." where only theirs were kept; also part of the note
};

struct ReportModel {
  ReportOptions options;
  std::string headline;  // "X ms of Y ms per step are lost; first, do Z, which saves a – b ms per step."
  std::string headline_action;      // the end of it that gives what to do first; or ""
  std::vector<Figure> figures;      // in order of display
  std::vector<ReportTable> tables;  // in order of display
  const Advice* advice = nullptr;   // not owned
};

const Figure* FindFigure(const ReportModel& model, std::string_view id);
const ReportTable* FindTable(const ReportModel& model, std::string_view id);
// "31.0 %", or "unknown".
std::string FigureText(const ReportModel& model, std::string_view id);
std::optional<double> FigureNumber(const ReportModel& model, std::string_view id);

// Value of a named column in a row of a table, NULL where there is no such column.
Value CellOf(const ReportTable& table, size_t row, std::string_view column);
// The same as text, and as a number, 0 where it is none.
std::string CellText(const ReportTable& table, size_t row, std::string_view column, Unit unit = Unit::kNone);
double CellNumber(const ReportTable& table, size_t row, std::string_view column);
// "200 of 1,500 rows shown" of a table of which `shown` rows are; "" where that is all.
std::string LeftOutText(const ReportTable& table, size_t shown, const char* what = "rows");

bool HasGpuWork(const ReportModel& model);

}  // namespace dladvisor
