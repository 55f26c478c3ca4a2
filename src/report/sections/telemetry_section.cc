// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/telemetry_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "engine/base/text.h"
#include "engine/base/value.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

// By which the time at work must be busier than the whole, to be told apart.
constexpr double kLeastDifference = 1.05;

std::string BusyText(const ReportModel& model, const ReportTable& telemetry) {
  const ReportTable& busy = *FindTable(model, "telemetry_busy");
  const double whole = AsNumber(CellOf(busy, 0, "busy_share")).value_or(0);
  const double at_work = AsNumber(CellOf(busy, 0, "busy_share_at_work")).value_or(0);
  // Start-up and what follows the work are no part of a job's use.
  const bool part = at_work >= kLeastDifference * whole && at_work > 0;
  return fmt::format("{} {}", FormatValue(part ? at_work : whole, Unit::kRatio),
                     IsOneLook(telemetry) ? "at that moment"
                     : part               ? "of the time from the first busy sample to the last"
                                          : "of the time");
}

}  // namespace

const ReportTable* TelemetryAlone(const ReportModel& model) {
  const ReportTable* telemetry = HasGpuWork(model) ? nullptr : FindTable(model, "telemetry");
  return telemetry == nullptr || telemetry->rows.rows.empty() ? nullptr : telemetry;
}

bool HasBusyShare(const ReportModel& model) {
  const ReportTable* busy = FindTable(model, "telemetry_busy");
  return busy != nullptr && !busy->rows.rows.empty() && !IsNull(CellOf(*busy, 0, "busy_share"));
}

Value MultiprocessorsAtWork(const ReportModel& model) {
  const ReportTable* all = FindTable(model, "telemetry_busy");
  return all == nullptr || all->rows.rows.empty() ? Value{} : CellOf(*all, 0, "multiprocessors");
}

bool IsJetson(const ReportModel& model) {
  const Figure* names = FindFigure(model, "gpu_names");
  if (names == nullptr || IsNull(names->value)) return false;
  const std::string text = FigureText(model, "gpu_names");
  return std::ranges::any_of(std::array{"Orin", "Xavier", "Tegra"},
                             [&](const char* name) { return text.find(name) != std::string::npos; });
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
  const std::string by = named ? Visible(FigureText(model, "profiler")) : "GPU telemetry";
  std::string text = fmt::format(
      "A log of {}, not a trace: {} {}{}", by, WithThousands(static_cast<int64_t>(telemetry.total_rows)),
      by.starts_with("npu-smi") ? "NPU" : "GPU", telemetry.total_rows == 1 ? "" : "s");
  if (const Value multiprocessors = MultiprocessorsAtWork(model);
      !HasBusyShare(model) && !IsNull(multiprocessors))
    text += fmt::format(", {} of the multiprocessors at work on average",
                        FormatValue(multiprocessors, Unit::kRatio));
  if (HasBusyShare(model)) text += ", busy " + BusyText(model, telemetry);
  return text;
}

std::string BusyBeside(const ReportModel& model) {
  const ReportTable* telemetry = TelemetryAlone(model);
  if (telemetry == nullptr || IsOneLook(*telemetry) || !HasBusyShare(model)) return "";
  return fmt::format(", the GPU{} busy {}", telemetry->total_rows == 1 ? "" : "s",
                     BusyText(model, *telemetry));
}

}  // namespace dladvisor
