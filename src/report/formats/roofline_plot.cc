// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/roofline_plot.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "src/render/escape.h"
#include "src/render/roofline.h"
#include "src/report/formats/html_parts.h"

namespace dladvisor {
namespace {

constexpr size_t kLabelColumns = 32;

std::string DotText(const ReportTable& table, size_t row) {
  const std::string shapes = CellText(table, row, "shapes", Unit::kText);
  return fmt::format(
      "{} {}: {}, {} of {} peak, {} FLOP per byte, {} of GPU time in {} calls",
      CellText(table, row, "op", Unit::kText), Ellipsize(Visible(shapes), 120),
      CellText(table, row, "flops_per_s", Unit::kFlopsPerSecond),
      CellText(table, row, "compute_share", Unit::kRatio), CellText(table, row, "precision", Unit::kText),
      CellText(table, row, "intensity", Unit::kCount), CellText(table, row, "gpu_ns", Unit::kNanoseconds),
      CellText(table, row, "calls", Unit::kCount));
}

}  // namespace

data RooflinePlots(const ReportModel& model) {
  data plots{data::type::list};
  const ReportTable* table = FindTable(model, "roofline");
  if (table == nullptr || table->rows.rows.empty()) return plots;
  std::vector<RooflineCeiling> ceilings;
  std::map<std::pair<std::string, double>, size_t> ceiling_of;
  std::vector<RooflineDot> dots;
  double bandwidth = 0;
  for (size_t row = 0; row < table->rows.rows.size(); ++row) {
    const double peak = CellNumber(*table, row, "peak_flops_per_s");
    const std::string precision = CellText(*table, row, "precision", Unit::kText);
    const auto [ceiling, is_new] = ceiling_of.try_emplace({precision, peak}, ceilings.size());
    if (is_new)
      ceilings.push_back({fmt::format("{}, {}", precision, FormatValue(peak, Unit::kFlopsPerSecond)), peak});
    bandwidth = CellNumber(*table, row, "peak_bytes_per_s");
    const std::string op = CellText(*table, row, "op", Unit::kText);
    dots.push_back({DotText(*table, row), CellNumber(*table, row, "intensity"),
                    CellNumber(*table, row, "flops_per_s"), CellNumber(*table, row, "gpu_ns"),
                    ceiling->second, Ellipsize(Visible(op.substr(op.rfind(':') + 1)), kLabelColumns)});
  }
  std::string title = "Roofline: operators by FLOP per byte and rate; areas are shares of their GPU time";
  if (FigureNumber(model, "ranks").value_or(0) > 1)
    title += ", of rank " + CellText(*table, 0, "rank", Unit::kNone);
  if (const std::string left = LeftOutText(*table, table->rows.rows.size(), "operators"); !left.empty())
    title += ", " + left;
  data plot;
  plot.set("label", title);
  plot.set("svg", Roofline("roofline", title, bandwidth, ceilings, dots));
  plot.set("legend", LegendData({}));
  plots << plot;
  return plots;
}

}  // namespace dladvisor
