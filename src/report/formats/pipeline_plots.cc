// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/pipeline_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "engine/base/text.h"
#include "src/render/svg.h"
#include "src/report/formats/html_parts.h"
#include "src/report/sections/pipeline_section.h"

namespace dladvisor {
namespace {

struct PhaseStyle {
  const char *phase, *legend, *color;
};
constexpr PhaseStyle kPhases[] = {{"F", "Forward", "c-copy"},
                                  {"B", "Backward", "c-tensor"},
                                  {"W", "Gradients of weights", "c-warn"},
                                  {"Optimizer", "Optimizer", "c-comm"}};

// "8 F, 8 B, bubble 27.3 %".
std::string LaneText(const std::map<std::string, size_t>& passes, const std::string& bubble) {
  std::string text;
  for (const PhaseStyle& style : kPhases)
    if (const auto count = passes.find(style.phase); count != passes.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count->second, style.phase);
  return text + (bubble.empty() ? "" : ", bubble " + bubble);
}

// Bubble of a stage of the drawn pipeline.
std::string BubbleOf(const ReportModel& model, const Value& stage) {
  const ReportTable* stages = FindTable(model, "pipeline_stages");
  for (const size_t row : DrawnStages(model))
    if (CellOf(*stages, row, "stage") == stage) return CellText(*stages, row, "bubble_share", Unit::kRatio);
  return "";
}

}  // namespace

data PipelinePlots(const ReportModel& model) {
  data plots{data::type::list};
  const ReportTable* table = FindTable(model, "pipeline_schedule");
  const ReportTable* pipelines = FindTable(model, "pipelines");
  const size_t rows = table == nullptr ? 0 : table->rows.rows.size();
  if (rows == 0 || pipelines == nullptr || pipelines->rows.rows.empty()) return plots;
  // Where clocks of ranks do not agree each lane begins with its own first pass.
  const bool clocks_agree = !IsNull(CellOf(*pipelines, 0, "warmup_bubble_ns"));
  std::vector<Lane> lanes;
  std::map<std::string, size_t> in_figure;
  double origin = std::numeric_limits<double>::max();
  for (size_t row = 0; clocks_agree && row < rows; ++row)
    origin = std::min(origin, AsNumber(CellOf(*table, row, "start_ns")).value_or(0));
  double last = 0;
  for (size_t first = 0, end = 0; first < rows; first = end) {
    const Value stage = CellOf(*table, first, "stage");
    if (!clocks_agree) origin = AsNumber(CellOf(*table, first, "start_ns")).value_or(0);
    Lane lane;
    lane.label = fmt::format("Stage {}", FormatValue(stage, Unit::kNone));
    std::map<std::string, size_t> passes;
    for (; end < rows && CellOf(*table, end, "stage") == stage; ++end) {
      const std::string phase = CellText(*table, end, "phase", Unit::kText);
      const auto* style = std::ranges::find(kPhases, phase, &PhaseStyle::phase);
      if (style == std::end(kPhases)) continue;
      const Value batch = CellOf(*table, end, "micro_batch"), chunk = CellOf(*table, end, "chunk");
      Box box;
      box.start = AsNumber(CellOf(*table, end, "start_ns")).value_or(0) - origin;
      box.end = AsNumber(CellOf(*table, end, "end_ns")).value_or(0) - origin;
      box.label = IsNull(batch) ? "" : FormatValue(batch, Unit::kNone);
      box.color = style->color;
      box.light = AsNumber(chunk).value_or(0) > 0;
      box.text = fmt::format("{}{}{}: {} from {}", phase, box.label.empty() ? "" : " " + box.label,
                             IsNull(chunk) ? "" : ", chunk " + FormatValue(chunk, Unit::kNone),
                             FormatValue(box.end - box.start, Unit::kNanoseconds),
                             FormatValue(box.start, Unit::kNanoseconds));
      last = std::max(last, box.end);
      ++passes[phase];
      ++in_figure[phase];
      lane.boxes.push_back(std::move(box));
    }
    lane.text = LaneText(passes, BubbleOf(model, stage));
    lanes.push_back(std::move(lane));
  }
  std::vector<std::pair<double, std::string>> ticks;
  for (const double at : RoundTicks(last))
    ticks.emplace_back(at, at > 0 ? FormatValue(at, Unit::kNanoseconds) : "0");
  std::vector<Segment> legend;
  for (const PhaseStyle& style : kPhases)
    if (const auto count = in_figure.find(style.phase); count != in_figure.end())
      legend.push_back({style.legend, 0, WithThousands(static_cast<int64_t>(count->second)), style.color});
  legend.push_back({"Bubble", 0, CellText(*pipelines, 0, "bubble_share", Unit::kRatio), "c-idle6"});
  std::string drawn;
  if (static_cast<double>(lanes.size()) < AsNumber(CellOf(*pipelines, 0, "stages")).value_or(0))
    drawn = fmt::format(", {} of {} stages", lanes.size(), CellText(*pipelines, 0, "stages", Unit::kCount));
  if (const std::string passes = LeftOutText(*table, rows, "passes"); !passes.empty()) drawn += ", " + passes;
  const std::string title = fmt::format(
      "Schedule of pipeline {}, iteration {}{}{}{}", CellText(*pipelines, 0, "pipeline", Unit::kNone),
      CellText(*pipelines, 0, "typical_step", Unit::kNone), drawn,
      AsNumber(CellOf(*pipelines, 0, "chunks")).value_or(1) > 1 ? ", later chunks lighter" : "",
      clocks_agree ? "" : ", each stage from its own start, as clocks do not agree");
  data plot;
  plot.set("label", title);
  plot.set("svg", LaneChart("pipeline-schedule", title, lanes, ticks));
  plot.set("legend", LegendData(legend));
  plots << plot;
  return plots;
}

}  // namespace dladvisor
