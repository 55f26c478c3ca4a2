// SPDX-License-Identifier: Apache-2.0
#include "src/report/model/report_model.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "engine/base/text.h"

namespace dladvisor {

const Figure* FindFigure(const ReportModel& model, std::string_view id) {
  for (const Figure& figure : model.figures)
    if (figure.id == id) return &figure;
  return nullptr;
}

const ReportTable* FindTable(const ReportModel& model, std::string_view id) {
  for (const ReportTable& table : model.tables)
    if (table.id == id) return &table;
  return nullptr;
}

std::string FigureText(const ReportModel& model, std::string_view id) {
  const Figure* figure = FindFigure(model, id);
  return figure == nullptr ? "unknown" : FormatValue(figure->value, figure->unit);
}

std::optional<double> FigureNumber(const ReportModel& model, std::string_view id) {
  const Figure* figure = FindFigure(model, id);
  const auto number = figure == nullptr ? std::nullopt : AsNumber(figure->value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

Value CellOf(const ReportTable& table, size_t row, std::string_view column) {
  for (size_t c = 0; c < table.rows.columns.size(); ++c)
    if (table.rows.columns[c].name == column) return table.rows.rows[row][c];
  return {};
}

std::string CellText(const ReportTable& table, size_t row, std::string_view column, Unit unit) {
  return FormatValue(CellOf(table, row, column), unit);
}

double CellNumber(const ReportTable& table, size_t row, std::string_view column) {
  return AsNumber(CellOf(table, row, column)).value_or(0);
}

std::string LeftOutText(const ReportTable& table, size_t shown, const char* what) {
  if (shown >= table.total_rows) return "";
  return fmt::format("{} of {} {} shown", WithThousands(static_cast<int64_t>(shown)),
                     WithThousands(static_cast<int64_t>(table.total_rows)), what);
}

bool HasGpuWork(const ReportModel& model) {
  return FigureNumber(model, "gpu_operations").value_or(0) > 0 || FigureNumber(model, "gpus").value_or(0) > 0;
}

}  // namespace dladvisor
