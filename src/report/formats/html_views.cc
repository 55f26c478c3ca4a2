// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/html_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "src/render/escape.h"
#include "src/render/svg.h"
#include "src/report/formats/html_parts.h"
#include "src/report/formats/op_tree.h"
#include "src/report/formats/pipeline_plots.h"
#include "src/report/formats/rank_plots.h"
#include "src/report/formats/roofline_plot.h"
#include "src/report/model/column_style.h"
#include "src/report/model/queries.h"
#include "src/report/sections/ledger_section.h"
#include "src/report/sections/ranks_section.h"

namespace dladvisor {
namespace {

// Bars for the iterations of the first rank.
const ReportTable* IterationBars(const ReportModel& model) { return FindTable(model, "iteration_chart"); }

data LedgerBars(const ReportModel& model) {
  data bars{data::type::list};
  const ReportTable* ledger = FindTable(model, "time_ledger");
  std::vector<std::pair<Value, Value>> drawn;
  for (size_t row = 0; ledger != nullptr && row < ledger->rows.rows.size() && drawn.size() < kDrawnLedgers;
       ++row) {
    const std::pair key{CellOf(*ledger, row, "rank"), CellOf(*ledger, row, "device")};
    if (std::find(drawn.begin(), drawn.end(), key) != drawn.end()) continue;
    drawn.push_back(key);
    const std::vector<Segment> segments = LedgerSegments(*ledger, key.first, key.second);
    if (segments.empty()) continue;
    const std::string label = fmt::format("Rank {}, GPU {}", FormatValue(key.first, Unit::kNone),
                                          FormatValue(key.second, Unit::kNone));
    data bar;
    bar.set("label", label);
    bar.set("svg", StackedBar(fmt::format("ledger-{}", drawn.size()), "Time ledger of " + label, segments));
    bar.set("legend", LegendData(segments));
    bars << bar;
  }
  return bars;
}

// "5.00 GiB in aten::addmm at 1.20 s", where the relation knows of the device's peak.
std::optional<Mark> PeakOf(const ReportModel& model, const Value& device) {
  const ReportTable* memory = FindTable(model, "memory");
  for (size_t row = 0; memory != nullptr && row < memory->rows.rows.size(); ++row) {
    const auto cell = [&](const char* column) { return CellOf(*memory, row, column); };
    const auto when = AsNumber(cell("peak_at_ns")), bytes = AsNumber(cell("peak_bytes"));
    if (cell("device") != device || !when || !bytes) continue;
    const Value by = cell("peak_operator");
    return Mark{*when, *bytes,
                fmt::format("peak {}{} at {}", FormatValue(cell("peak_bytes"), Unit::kBytes),
                            IsNull(by) ? "" : " in " + Ellipsize(Visible(FormatValue(by, Unit::kText)), 60),
                            FormatValue(cell("peak_at_ns"), Unit::kNanoseconds))};
  }
  return std::nullopt;
}

data MemoryCurves(const ReportModel& model) {
  data plots{data::type::list};
  const ReportTable* table = FindTable(model, "memory_curve");
  const size_t rows = table == nullptr ? 0 : table->rows.rows.size();
  for (size_t first = 0, last = 0; first < rows; first = last) {
    const Value device = CellOf(*table, first, "device");
    while (last < rows && CellOf(*table, last, "device") == device) ++last;
    std::vector<Curve> curves = {{"Allocated", "", "c-copy", {}}, {"Reserved", "", "c-idle2", {}}};
    double most = 0;
    for (Curve& curve : curves) {
      double of_curve = 0;
      for (size_t row = first; row < last; ++row) {
        const Value bytes = CellOf(*table, row, &curve == &curves[0] ? "allocated_bytes" : "reserved_bytes");
        if (!AsNumber(bytes)) continue;
        curve.steps.emplace_back(AsNumber(CellOf(*table, row, "start_ns")).value_or(0), *AsNumber(bytes));
        of_curve = std::max(of_curve, *AsNumber(bytes));
      }
      curve.text = "at most " + FormatValue(of_curve, Unit::kBytes);
      most = std::max(most, of_curve);
    }
    const auto time = [&](size_t row) {
      return FormatValue(CellOf(*table, row, "start_ns"), Unit::kNanoseconds);
    };
    const std::string number = FormatValue(device, Unit::kNone), label = "GPU " + number;
    std::vector<Segment> legend;
    for (const Curve& curve : curves) legend.push_back({curve.label, 0, curve.text, curve.color});
    data plot;
    plot.set("label", label);
    plot.set("svg",
             StepChart("memory-curve-" + number, "Memory of " + label + " over time", curves,
                       PeakOf(model, device), FormatValue(most, Unit::kBytes), time(first), time(last - 1)));
    plot.set("legend", LegendData(legend));
    plots << plot;
  }
  return plots;
}

// Of how many GPUs LedgerBars draws the ledger.
std::vector<std::string> LedgerSentences(const ReportModel& model) {
  const double gpus = FigureNumber(model, "gpus").value_or(0);
  if (!(gpus > kDrawnLedgers)) return {};
  return {fmt::format("The first {} of {} GPUs are drawn.", kDrawnLedgers, FigureText(model, "gpus"))};
}

// Ops under their groups.
std::string OpTree(const ReportModel& model) {
  const ReportTable* table = FindTable(model, "ops");
  return table == nullptr ? "" : OpTreeHtml(*table, "op", false);
}

std::string ModuleTree(const ReportModel& model) {
  const ReportTable* table = FindTable(model, "modules");
  return table == nullptr ? "" : OpTreeHtml(*table, "module", true);
}

std::string IterationsOfView(const ReportModel& model) { return IterationChart(model, "iterations-chart"); }

// What a view has above its tables, by the name that its file gives (templates/queries).
struct Drawing {
  std::string_view name;
  data (*plots)(const ReportModel&) = nullptr;
  std::string (*tree)(const ReportModel&) = nullptr;
  std::string (*chart)(const ReportModel&) = nullptr;
  std::vector<std::string> (*sentences)(const ReportModel&) = nullptr;
};
constexpr std::array kDrawings = std::to_array<Drawing>({
    {.name = "iteration bars", .chart = IterationsOfView},
    {.name = "ledger bars", .plots = LedgerBars, .sentences = LedgerSentences},
    {.name = "memory curves", .plots = MemoryCurves},
    {.name = "module tree", .tree = ModuleTree},
    {.name = "op tree", .tree = OpTree},
    {.name = "pipeline plots", .plots = PipelinePlots},
    {.name = "rank plots", .plots = RankPlots, .sentences = RankSentences},
    {.name = "rooflines", .plots = RooflinePlots},
});

Drawing DrawingOf(const ReportView& view) {
  if (view.drawn.empty()) return {};
  const auto found = std::ranges::find(kDrawings, view.drawn, &Drawing::name);
  if (found == kDrawings.end())
    throw Error("templates/queries: " + view.title, fmt::format("unknown drawing \"{}\"", view.drawn),
                "Add it to kDrawings in src/report/formats/html_views.cc.");
  return *found;
}

}  // namespace

double MostInBar(const ReportModel& model) {
  const ReportTable* table = IterationBars(model);
  double most = 1;
  for (size_t row = 0; table != nullptr && row < table->rows.rows.size(); ++row)
    most = std::max(most, AsNumber(CellOf(*table, row, "iterations")).value_or(0));
  return most;
}

bool HasWarmUpBar(const ReportModel& model) {
  const ReportTable* table = IterationBars(model);
  for (size_t row = 0; table != nullptr && row < table->rows.rows.size(); ++row)
    if (AsNumber(CellOf(*table, row, "warmup")).value_or(0) != 0) return true;
  return false;
}

std::string IterationChart(const ReportModel& model, const std::string& id) {
  const ReportTable* table = IterationBars(model);
  if (table == nullptr) return "";
  std::vector<Bar> bars;
  double max = 0;
  for (size_t row = 0; row < table->rows.rows.size(); ++row) {
    const auto number = [&](const char* column) { return AsNumber(CellOf(*table, row, column)).value_or(0); };
    const auto text = [&](const char* column, Unit unit) {
      return FormatValue(CellOf(*table, row, column), unit);
    };
    const bool one = number("iterations") == 1, warmup = number("warmup") != 0;
    max = std::max(max, number("mean_ns"));
    bars.push_back(
        {one ? "Iteration " + text("first", Unit::kNone)
             : fmt::format("Iterations {}–{}", text("first", Unit::kNone), text("last", Unit::kNone)),
         number("mean_ns"),
         fmt::format("{}{}{}", text("mean_ns", Unit::kNanoseconds),
                     one ? "" : " on average, up to " + text("slowest_ns", Unit::kNanoseconds),
                     warmup ? " (warm-up)" : ""),
         warmup});
  }
  if (bars.empty()) return "";
  std::string title = "Duration of the iterations";
  if (const double most = MostInBar(model); most > 1)
    title += fmt::format(", each bar the mean of up to {:.0f}", most);
  const auto mean = FigureNumber(model, "average_iteration_time");
  return BarChart(id, title, bars, mean.value_or(0), mean ? FormatValue(*mean, Unit::kNanoseconds) : "",
                  FormatValue(max, Unit::kNanoseconds));
}

data ViewList(const ReportModel& model, std::vector<std::string>& without_rows) {
  // Tables are large: what is put into a list of the template is copied, and again as that grows.
  kainjow::mustache::list views;
  views.reserve(ReportViews().size());
  for (const ReportView& view : ReportViews()) {
    kainjow::mustache::list tables;
    tables.reserve(view.tables.size());
    size_t rows = 0;
    for (const std::string& id : view.tables) {
      const ReportTable* table = FindTable(model, id);
      if (table == nullptr) continue;
      if (rows == 0) rows = table->total_rows;
      tables.push_back(TableData(*table, ShownColumns(model, *table)));
    }
    if (tables.empty()) continue;  // of another format
    if (rows == 0) {
      without_rows.push_back(view.title);
      continue;
    }
    data item;
    item.set("view_id", view.id);
    item.set("view_title", view.title);
    item.set("count",
             fmt::format("{} row{}", WithThousands(static_cast<int64_t>(rows)), rows == 1 ? "" : "s"));
    item.set("several", tables.size() > 1);
    item["tables"] = data{tables};
    const Drawing drawing = DrawingOf(view);
    item.set("chart", TextOrFalse(drawing.chart == nullptr ? "" : drawing.chart(model)));
    item.set("sentences",
             TextList(drawing.sentences == nullptr ? std::vector<std::string>() : drawing.sentences(model)));
    item.set("tree", TextOrFalse(drawing.tree == nullptr ? "" : drawing.tree(model)));
    item.set("plots", drawing.plots == nullptr ? data{data::type::list} : drawing.plots(model));
    views.push_back(std::move(item));
  }
  return data{views};
}

}  // namespace dladvisor
