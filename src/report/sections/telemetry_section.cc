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

std::string TelemetryText(const ReportModel& model, const ReportTable& telemetry) {
  const Figure* tool = FindFigure(model, "profiler");
  const bool named = tool != nullptr && !IsNull(tool->value);
  std::string text = fmt::format(
      "A log of {}, not a trace: {} GPU{}", named ? Visible(FigureText(model, "profiler")) : "GPU telemetry",
      WithThousands(static_cast<int64_t>(telemetry.total_rows)), telemetry.total_rows == 1 ? "" : "s");
  if (HasBusyShare(model))
    text +=
        fmt::format(", busy {} of the time",
                    FormatValue(CellOf(*FindTable(model, "telemetry_busy"), 0, "busy_share"), Unit::kRatio));
  return text;
}

}  // namespace dladvisor
