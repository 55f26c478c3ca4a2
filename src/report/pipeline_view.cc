#include "src/report/pipeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "engine/base/text.h"
#include "src/report/html_parts.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxSentences = 4, kMaxStages = 64;

struct PhaseStyle {
  const char *phase, *legend, *color;
};
constexpr PhaseStyle kPhases[] = {{"F", "Forward", "c-copy"},
                                  {"B", "Backward", "c-tensor"},
                                  {"W", "Gradients of weights", "c-warn"},
                                  {"Optimizer", "Optimizer", "c-comm"}};

std::string Cell(const ReportTable& table, size_t row, const char* column, Unit unit) {
  return FormatValue(CellOf(table, row, column), unit);
}

std::string SentenceOf(const ReportTable& table, size_t row) {
  const auto known = [&](const char* column) { return !IsNull(CellOf(table, row, column)); };
  const auto text = [&](const char* column, Unit unit) { return Cell(table, row, column, unit); };
  const auto count = [&](const char* column, const char* one, const char* several) {
    const std::string number = text(column, Unit::kCount);
    return fmt::format("{} {}", number, number == "1" ? one : several);
  };
  std::string sentence =
      fmt::format("Pipeline {}: {} with {} and {}", text("pipeline", Unit::kNone),
                  known("schedule") ? text("schedule", Unit::kText) : "a schedule that is not known",
                  count("stages", "stage", "stages"), count("micro_batches", "micro-batch", "micro-batches"));
  if (AsNumber(CellOf(table, row, "missing_stages")).value_or(0) > 0)
    sentence += fmt::format(" ({} more not in the profile)", text("missing_stages", Unit::kCount));
  sentence += fmt::format("; {} of its {} is bubble", text("bubble_share", Unit::kRatio),
                          text("cost_ns", Unit::kNanoseconds));
  if (known("ideal_share")) sentence += fmt::format(", ideally {}", text("ideal_share", Unit::kRatio));
  if (known("warmup_bubble_ns"))
    sentence += fmt::format(
        " (warm-up {}, steady {}, cool-down {})", text("warmup_bubble_ns", Unit::kNanoseconds),
        text("steady_bubble_ns", Unit::kNanoseconds), text("cooldown_bubble_ns", Unit::kNanoseconds));
  if (AsNumber(CellOf(table, row, "imbalance_share")).value_or(0) >= 0.01)
    sentence += fmt::format("; stage {} (rank {}) is the slowest, {} above the mean",
                            text("slowest_stage", Unit::kNone), text("slowest_rank", Unit::kNone),
                            text("imbalance_share", Unit::kRatio));
  return sentence + ".";
}

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
    if (CellOf(*stages, row, "stage") == stage) return Cell(*stages, row, "bubble_share", Unit::kRatio);
  return "";
}

}  // namespace

std::vector<std::string> PipelineSentences(const ReportModel& model) {
  std::vector<std::string> sentences;
  const ReportTable* pipelines = FindTable(model, "pipelines");
  const size_t rows = pipelines == nullptr ? 0 : pipelines->rows.rows.size();
  for (size_t row = 0; row < std::min(rows, kMaxSentences); ++row)
    sentences.push_back(SentenceOf(*pipelines, row));
  if (rows > kMaxSentences)
    sentences.push_back(fmt::format("{} more have shorter bubbles.", pipelines->total_rows - kMaxSentences));
  return sentences;
}

std::vector<size_t> DrawnStages(const ReportModel& model) {
  std::vector<size_t> rows;
  const ReportTable* pipelines = FindTable(model, "pipelines");
  const ReportTable* stages = FindTable(model, "pipeline_stages");
  if (pipelines == nullptr || stages == nullptr || pipelines->rows.rows.empty()) return rows;
  const Value drawn = CellOf(*pipelines, 0, "pipeline");
  for (size_t row = 0; row < stages->rows.rows.size() && rows.size() < kMaxStages; ++row)
    if (CellOf(*stages, row, "pipeline") == drawn) rows.push_back(row);
  return rows;
}

std::string StagesLeftOutText(const ReportModel& model) {
  const ReportTable* pipelines = FindTable(model, "pipelines");
  const size_t shown = DrawnStages(model).size();
  if (shown == 0 || !(AsNumber(CellOf(*pipelines, 0, "stages")).value_or(0) > static_cast<double>(shown)))
    return "";
  return fmt::format("{} of {} stages shown", shown, Cell(*pipelines, 0, "stages", Unit::kCount));
}

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
      const std::string phase = Cell(*table, end, "phase", Unit::kText);
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
  constexpr int kTicks = 4;
  for (int i = 0; i <= kTicks; ++i)
    ticks.emplace_back(last * i / kTicks, FormatValue(last * i / kTicks, Unit::kNanoseconds));
  std::vector<Segment> legend;
  for (const PhaseStyle& style : kPhases)
    if (const auto count = in_figure.find(style.phase); count != in_figure.end())
      legend.push_back({style.legend, 0, WithThousands(static_cast<int64_t>(count->second)), style.color});
  legend.push_back({"Bubble", 0, Cell(*pipelines, 0, "bubble_share", Unit::kRatio), "c-idle6"});
  std::string drawn;
  if (static_cast<double>(lanes.size()) < AsNumber(CellOf(*pipelines, 0, "stages")).value_or(0))
    drawn = fmt::format(", {} of {} stages", lanes.size(), Cell(*pipelines, 0, "stages", Unit::kCount));
  if (const std::string passes = LeftOutText(*table, rows, "passes"); !passes.empty()) drawn += ", " + passes;
  const std::string title =
      fmt::format("Schedule of pipeline {}, iteration {}{}{}{}", Cell(*pipelines, 0, "pipeline", Unit::kNone),
                  Cell(*pipelines, 0, "typical_step", Unit::kNone), drawn,
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
