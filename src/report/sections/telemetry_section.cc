// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/telemetry_section.h"

#include <fmt/format.h>

#include <cstdint>

#include "engine/base/text.h"
#include "src/render/escape.h"

namespace dladvisor {

const ReportTable* TelemetryAlone(const ReportModel& model) {
  const ReportTable* telemetry = HasGpuWork(model) ? nullptr : FindTable(model, "telemetry");
  return telemetry == nullptr || telemetry->rows.rows.empty() ? nullptr : telemetry;
}

bool HasBusyShare(const ReportModel& model) {
  const ReportTable* busy = FindTable(model, "telemetry_busy");
  return busy != nullptr && !busy->rows.rows.empty() && !IsNull(CellOf(*busy, 0, "busy_share"));
}

bool IsOneLook(const ReportTable& telemetry) {
  for (size_t row = 0; row < telemetry.rows.rows.size(); ++row) {
    const Value cell = CellOf(telemetry, row, "samples");
    const auto* samples = std::get_if<int64_t>(&cell);
    if (samples == nullptr || *samples != 1) return false;
  }
  return true;
}

std::string TelemetryText(const ReportModel& model, const ReportTable& telemetry) {
  const Figure* tool = FindFigure(model, "profiler");
  const bool named = tool != nullptr && !IsNull(tool->value);
  std::string text = fmt::format(
      "A log of {}, not a trace: {} GPU{}", named ? Visible(FigureText(model, "profiler")) : "GPU telemetry",
      WithThousands(static_cast<int64_t>(telemetry.total_rows)), telemetry.total_rows == 1 ? "" : "s");
  if (HasBusyShare(model))
    text +=
        fmt::format(", busy {} {}",
                    FormatValue(CellOf(*FindTable(model, "telemetry_busy"), 0, "busy_share"), Unit::kRatio),
                    IsOneLook(telemetry) ? "at that moment" : "of the time");
  return text;
}

}  // namespace dladvisor
