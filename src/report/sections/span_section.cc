// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/span_section.h"

#include <fmt/format.h>

#include "engine/base/text.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

class SpanCells {
 public:
  explicit SpanCells(const ReportTable& table) : table_(table) {}

  bool Has(const char* column) const { return !IsNull(CellOf(table_, 0, column)); }
  double Number(const char* column) const { return AsNumber(CellOf(table_, 0, column)).value_or(0); }
  std::string Text(const char* column, Unit unit) const {
    return Visible(FormatValue(CellOf(table_, 0, column), unit));
  }
  std::string Counted(const char* column, const char* one, const char* many) const {
    return fmt::format("{} {}", Text(column, Unit::kCount), Number(column) == 1 ? one : many);
  }

 private:
  const ReportTable& table_;
};

std::string LargestText(const SpanCells& cells) {
  return fmt::format("\"{}\" takes {} of the time in them", cells.Text("name", Unit::kText),
                     cells.Text("share", Unit::kRatio));
}

}  // namespace

const ReportTable* SpansAlone(const ReportModel& model) {
  const ReportTable* spans = HasGpuWork(model) ? nullptr : FindTable(model, "span_trace");
  return spans == nullptr || spans->rows.rows.empty() ? nullptr : spans;
}

std::string SpansText(const ReportTable& spans) {
  if (spans.total_rows > 1)
    return fmt::format("The spans of {} programs, without GPU work", spans.total_rows);
  const SpanCells cells(spans);
  std::string text =
      fmt::format("{} of a program, on {} over {}", cells.Counted("spans", "span", "spans"),
                  cells.Counted("tracks", "track", "tracks"), cells.Text("duration_ns", Unit::kNanoseconds));
  if (cells.Has("name")) text += ": " + LargestText(cells);
  return text;
}

std::vector<std::pair<std::string, std::string>> SpansSummary(const ReportModel& model) {
  const ReportTable* spans = FindTable(model, "span_trace");
  if (spans == nullptr || spans->rows.rows.size() != 1) return {};
  const SpanCells cells(*spans);
  std::vector<std::pair<std::string, std::string>> summary = {
      {"Time", cells.Text("duration_ns", Unit::kNanoseconds)},
      {"Spans", fmt::format("{} on {} of {}", cells.Text("spans", Unit::kCount),
                            cells.Counted("tracks", "track", "tracks"),
                            cells.Counted("processes", "process", "processes"))},
  };
  if (cells.Has("covered_share"))
    summary.emplace_back("In Any Span", cells.Text("covered_share", Unit::kRatio));
  if (cells.Has("name")) summary.emplace_back("Most of It", LargestText(cells));
  if (cells.Has("gap_ns"))
    summary.emplace_back("Longest Time Without",
                         fmt::format("{} after \"{}\"", cells.Text("gap_ns", Unit::kNanoseconds),
                                     cells.Text("before_gap", Unit::kText)));
  summary.emplace_back("GPU", "unknown (only the names of spans are known, not what runs in them)");
  return summary;
}

}  // namespace dladvisor
