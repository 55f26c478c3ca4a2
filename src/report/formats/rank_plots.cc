// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/rank_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "engine/base/text.h"
#include "src/render/escape.h"
#include "src/render/svg.h"
#include "src/report/formats/html_parts.h"
#include "src/report/sections/ranks_section.h"

namespace dladvisor {
namespace {

std::string TimeText(double ns) { return FormatValue(ns, Unit::kNanoseconds); }

// "Rank 5", "Ranks 480–519".
std::string Numbered(const char* what, const Value& first, const Value& last) {
  if (first == last) return fmt::format("{} {}", what, FormatValue(first, Unit::kNone));
  return fmt::format("{}s {}–{}", what, FormatValue(first, Unit::kNone), FormatValue(last, Unit::kNone));
}

data HeatPlot(const ReportTable& table) {
  double most = 0;
  size_t places = 0, lines = 0, worst = 0;
  const size_t count = table.rows.rows.size();
  bool several_ranks = false, several_steps = false, several_devices = false;
  std::map<double, double> device_of;  // by rank
  for (size_t row = 0; row < count; ++row) {
    if (CellNumber(table, row, "distance_ns") > most) worst = row;
    most = std::max(most, CellNumber(table, row, "distance_ns"));
    places = std::max(places, static_cast<size_t>(CellNumber(table, row, "place")) + 1);
    lines = std::max(lines, static_cast<size_t>(CellNumber(table, row, "line")) + 1);
    several_ranks |= CellOf(table, row, "first_rank") != CellOf(table, row, "last_rank");
    several_steps |= CellOf(table, row, "first_step") != CellOf(table, row, "last_step");
    const auto [known, is_new] =
        device_of.emplace(CellNumber(table, row, "rank"), CellNumber(table, row, "device"));
    several_devices |= !is_new && known->second != CellNumber(table, row, "device");
  }
  std::vector<std::string> columns(places);
  std::vector<HeatRow> rows(lines);
  for (HeatRow& row : rows) row.cells.resize(places);
  for (size_t row = 0; row < count; ++row) {
    const auto line = static_cast<size_t>(CellNumber(table, row, "line"));
    const auto place = static_cast<size_t>(CellNumber(table, row, "place"));
    const std::string gpu = several_devices ? ", GPU " + CellText(table, row, "device") : "";
    columns[place] = Numbered("Step", CellOf(table, row, "first_step"), CellOf(table, row, "last_step"));
    rows[line].label = Numbered("Rank", CellOf(table, row, "first_rank"), CellOf(table, row, "last_rank")) +
                       (several_ranks ? "" : gpu);
    const double excess = CellNumber(table, row, "excess_ns");
    rows[line].cells[place] = {HeatClass(excess, most),
                               fmt::format("Rank {}{}, step {}: {}", CellText(table, row, "rank"), gpu,
                                           CellText(table, row, "step"), SignedTime(excess))};
  }
  std::vector<Segment> legend;
  for (int level = 4; level >= -4; --level) {
    const double above = most / 16 * std::pow(2, std::abs(level) - 1);
    legend.push_back({level == 4    ? "slower than the mean"
                      : level == -4 ? "faster"
                      : level == 0  ? "about the mean"
                                    : "",
                      0,
                      level == 0  ? "±" + TimeText(most / 16)
                      : level > 0 ? "> " + TimeText(above)
                                  : "< " + TimeText(-above),
                      level == 0 ? "h0" : fmt::format("{}{}", level > 0 ? 'h' : 'l', std::abs(level))});
  }
  std::string label = "Local time of each rank and step against the mean over the GPUs of the step";
  if (several_ranks || several_steps)
    label += fmt::format("; of several {} in a cell the one farthest from the mean is shown",
                         several_ranks && several_steps ? "ranks and steps"
                         : several_ranks                ? "ranks"
                                                        : "steps");
  const std::string description =
      fmt::format("{} by {} cells; farthest from the mean is rank {} in step {}, {}.", lines, places,
                  CellText(table, worst, "rank"), CellText(table, worst, "step"),
                  SignedTime(CellNumber(table, worst, "excess_ns")));
  data plot;
  plot.set("label", label);
  plot.set("svg", HeatMap("rank-heat", label, description, columns, rows));
  plot.set("legend", LegendData(legend));
  return plot;
}

struct Pair {
  std::vector<Line> lines;  // the slowest, then the fastest
  double least = 0, most = 0;
  bool empty() const {
    return std::ranges::all_of(lines, [](const Line& line) { return line.points.size() < 2; });
  }
};

Pair LinesOf(const ReportTable& table, const char* column) {
  Pair pair;
  Value rank, device;
  const size_t rows = table.rows.rows.size();
  for (size_t row = 0; row < rows; ++row) {
    if (row == 0 || CellOf(table, row, "rank") != rank || CellOf(table, row, "device") != device) {
      rank = CellOf(table, row, "rank");
      device = CellOf(table, row, "device");
      const bool slowest = pair.lines.empty();
      pair.lines.push_back(
          {fmt::format("Rank {}, the {}", CellText(table, row, "rank"), slowest ? "slowest" : "fastest"),
           "",
           slowest ? "c-slow" : "c-fast",
           {}});
    }
    const auto value = AsNumber(CellOf(table, row, column));
    if (!value) continue;
    pair.lines.back().points.emplace_back(CellNumber(table, row, "position"), *value);
    pair.least = std::min(pair.least, *value);
    pair.most = std::max(pair.most, *value);
  }
  return pair;
}

// Both curves over the kernels of the step.
data CurvePlot(const std::string& id, const std::string& title, Pair pair, const std::vector<Mark>& marks,
               double last_position) {
  std::vector<Segment> legend;
  for (Line& line : pair.lines) {
    const auto farthest = std::ranges::max_element(
        line.points, {}, [](const std::pair<double, double>& point) { return std::abs(point.second); });
    if (farthest != line.points.end())
      line.text = fmt::format("{} at kernel {:.0f}", TimeText(farthest->second), farthest->first);
    legend.push_back({line.label, 0, line.text, line.color});
  }
  data plot;
  plot.set("label", title);
  plot.set("svg", LineChart(id, title, pair.lines, marks,
                            {TimeText(pair.most), TimeText(pair.least), "Kernel 0",
                             fmt::format("{:.0f}", last_position)}));
  plot.set("legend", LegendData(legend));
  return plot;
}

}  // namespace

data RankPlots(const ReportModel& model) {
  data plots{data::type::list};
  if (const ReportTable* steps = FindTable(model, "rank_steps"); steps && !steps->rows.rows.empty())
    plots << HeatPlot(*steps);
  const ReportTable* table = FindTable(model, "divergence");
  const ReportTable* jitter = FindTable(model, "jitter");
  if (table == nullptr || table->rows.rows.empty() || jitter == nullptr || jitter->rows.rows.empty())
    return plots;
  const double last = CellNumber(*jitter, 0, "kernels_per_step") - 1;
  std::vector<Mark> marks;
  if (const auto position = AsNumber(CellOf(*jitter, 0, "first_position"))) {
    std::string kernel;
    for (size_t row = 0; row < table->rows.rows.size() && kernel.empty(); ++row)
      if (CellOf(*table, row, "position") == CellOf(*jitter, 0, "first_position"))
        kernel = ", " + Ellipsize(Visible(CellText(*table, row, "kernel", Unit::kText)), 60);
    marks.push_back({*position, 0, fmt::format("diverges from kernel {:.0f}{}", *position, kernel)});
  }
  const std::string step = CellText(*jitter, 0, "worst_step");
  if (Pair lines = LinesOf(*table, "end_excess_ns"); !lines.empty())
    plots << CurvePlot(
        "divergence",
        fmt::format("Time to the end of each kernel of step {}, minus the mean over the GPUs", step),
        std::move(lines), marks, last);
  if (Pair lines = LinesOf(*table, "delay_ns"); !lines.empty())
    plots << CurvePlot(
        "launch-delay",
        fmt::format("From launch to start of each kernel of step {}; near 0 the host does not keep up", step),
        std::move(lines), marks, last);
  return plots;
}

}  // namespace dladvisor
