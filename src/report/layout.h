// What the renderers share: how columns are called and their cells written, which figures and tables make a
// panel, how findings nest.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/report/report.h"
#include "src/report/svg.h"

namespace dladvisor {

enum class ColumnKind { kText, kName, kNumber, kSeconds, kShare, kBoolean };

struct ColumnStyle {
  std::string label;  // "GPU Time (ns)"
  Unit unit = Unit::kNone;
  ColumnKind kind = ColumnKind::kText;
};

// By the column's name, which the relations use alike everywhere; the unit of `column` wins where it has one.
ColumnStyle StyleOf(const ResultColumn& column);

// As a table shows it: nanoseconds as "3,073,524,010", seconds as "3.073524", booleans as ✓ ✗ ?, NULL as "–".
std::string CellText(const Value& value, const ColumnStyle& style);

// Columns worth showing: not `rank` and `device` where all rows agree and the run has just one, nor
// `not_compared` where all are.
std::vector<size_t> ShownColumns(const ReportModel& model, const ReportTable& table);

const Figure* FindFigure(const ReportModel& model, std::string_view id);
const ReportTable* FindTable(const ReportModel& model, std::string_view id);
// "31.0 %", or "unknown".
std::string FigureText(const ReportModel& model, std::string_view id);
std::optional<double> FigureNumber(const ReportModel& model, std::string_view id);

std::span<const std::string_view> PerformanceFigures();
std::span<const std::string_view> SystemFigures();

// "200 of 1,500 rows shown" of a table of which `shown` rows are; "" where that is all.
std::string LeftOutText(const ReportTable& table, size_t shown, const char* what = "rows");

// Value of a named column in a row of a table, NULL where there is no such column.
Value CellOf(const ReportTable& table, size_t row, std::string_view column);

// The ledger of one rank and device as segments, compute first, NULL buckets left out; `per_step` where
// known.
std::vector<Segment> LedgerSegments(const ReportTable& ledger, const Value& rank, const Value& device);
// The ledger of the GPU that the headline speaks of: the one whose window is longest.
std::vector<Segment> HeadlineSegments(const ReportModel& model);
// "rank 5, GPU 0", "GPU 1"; "" where there is one alone.
std::string HeadlineGpu(const ReportModel& model);
// CSS class of a ledger bucket or of a category of the dashboard.
std::string ColorOf(std::string_view category);

// Every fired finding once, in order of display, with its depth: a root, what it causes, what those cause.
std::vector<std::pair<size_t, size_t>> FindingTree(const Advice& advice);
// "1.20 ms – 4.50 ms per step", "up to 4.50 ms per step", or "" where no saving is claimed.
std::string SavingText(const ReportModel& model, const Finding& finding);
// What all recommendations save together, which no ledger bucket gives twice; "" where there is nothing to
// add.
std::string TotalSavingText(const ReportModel& model);
// What to add to the capture command so that unknown rules can decide; --trace lists merged into one.
std::vector<std::string> CaptureFlags(const ReportModel& model);
// Declared flags in the words of the profiler that made profiles of this format, each once.
std::vector<std::string> CaptureOptions(const std::vector<std::string>& declared, std::string_view format);
// The format of all profiles; "" where they are of several.
std::string ProfileFormat(const Database& database);
// "9 of 11 rules could look, 1 has nothing of its kind in the profile".
std::string CoverageText(const Advice& advice);
bool HasGpuWork(const ReportModel& model);
// The table of telemetry, where the profile is a log of it and no trace; else nullptr.
const ReportTable* TelemetryAlone(const ReportModel& model);

// The table of a training's log, where the profile is one and no trace; else nullptr.
const ReportTable* TrainingAlone(const ReportModel& model);
// "A training log of Megatron-LM, not a trace: 200 iterations of 1.39 s, 2.87 samples/s".
std::string TrainingText(const ReportTable& training);
// What a reader asks of a training's log, as labels and values; empty without one, and of several, whose
// tables tell them apart.
std::vector<std::pair<std::string, std::string>> TrainingSummary(const ReportModel& model);

// "X ms of Y ms per step are lost; do Z first; it saves a-b ms."
std::string Headline(const ReportModel& model);

std::string RenderHtml(const ReportModel& model);
std::string RenderMarkdown(const ReportModel& model);
std::string RenderJson(const ReportModel& model);
std::string RenderText(const ReportModel& model);

}  // namespace dladvisor
