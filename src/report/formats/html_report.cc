// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/base/text.h"
#include "src/render/color.h"
#include "src/render/escape.h"
#include "src/render/svg.h"
#include "src/report/formats/finding_parts.h"
#include "src/report/formats/html_parts.h"
#include "src/report/formats/op_tree.h"
#include "src/report/formats/pipeline_plots.h"
#include "src/report/formats/rank_plots.h"
#include "src/report/formats/roofline_plot.h"
#include "src/report/formats/series_plots.h"
#include "src/report/formats/timeline_plot.h"
#include "src/report/model/column_style.h"
#include "src/report/model/queries.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/dashboard.h"
#include "src/report/sections/finding_groups.h"
#include "src/report/sections/finding_words.h"
#include "src/report/sections/findings_section.h"
#include "src/report/sections/headline.h"
#include "src/report/sections/ledger_section.h"
#include "src/report/sections/ranks_section.h"
#include "src/report/sections/telemetry_section.h"
#include "src/report/sections/training_section.h"

namespace dladvisor {
namespace {

struct View {
  const char *id, *title;
  std::vector<const char*> tables;
};

const std::vector<View>& Views() {
  static const std::vector<View> views = {
      {"training-log",
       "Training Log",
       {"training", "training_timers", "training_iterations", "training_memory", "training_settings"}},
      {"op-type-summary", "Op Type Summary", {"op_type_summary"}},
      {"group-ops", "Group Ops", {"group_ops"}},
      {"ops-and-kernels", "Ops and Kernels", {"ops", "op_kernels"}},
      {"execution-summary",
       "Execution Summary",
       {"execution_summary", "gpu_summary", "step_breakdown", "distributed_steps"}},
      {"operators", "Operators", {"operators", "matrix_products"}},
      {"speed-of-light",
       "Speed of Light",
       {"op_efficiency", "gemm", "sdpa_fwd", "sdpa_bwd", "attention_blocks", "conv_fwd", "conv_bwd",
        "fusion_candidates", "gpu_peaks"}},
      {"modules", "Modules", {"modules"}},
      {"kernels", "Kernels", {"kernels"}},
      {"kernels-by-iteration", "Kernels by Iteration", {"kernels_by_iteration"}},
      {"iterations", "Iterations", {"iterations"}},
      {"gpus", "GPUs", {"gpus", "telemetry", "launches", "gpu_metrics"}},
      {"copies", "Copies", {"copies"}},
      {"synchronisation", "Synchronisation", {"synchronisation", "api_calls"}},
      {"view-timeline", "Timeline Boxes", {"timeline"}},
      {"time-ledger", "Time Ledger", {"time_ledger", "idle_gaps"}},
      {"ranks", "Ranks", {"ranks", "collective_groups", "collective_waits", "clocks", "jitter"}},
      {"pipeline", "Pipeline", {"pipelines", "pipeline_stages"}},
      {"memory", "Memory", {"memory", "memory_operators"}},
  };
  return views;
}

std::vector<Segment> TableSegments(const ReportTable& table, std::string_view value_column) {
  std::vector<Segment> segments;
  for (size_t row = 0; row < table.rows.rows.size(); ++row) {
    const Value value = CellOf(table, row, value_column);
    if (!AsNumber(value)) continue;
    const std::string label = FormatValue(CellOf(table, row, "category"), Unit::kText);
    segments.push_back({label, *AsNumber(value), FormatValue(value, Unit::kNanoseconds), ColorOf(label)});
  }
  return segments;
}

std::string WhyUnknown(const ReportModel& model, std::string_view figure) {
  const Figure* found = FindFigure(model, figure);
  return found == nullptr ? "not asked" : IsNull(found->value) ? found->unknown_because : "";
}

// A share of a whole as used and rest.
data ShareCard(const ReportModel& model, const char* figure, const std::string& title, const std::string& tip,
               const char* used, const char* rest, const char* color) {
  const std::string unknown = WhyUnknown(model, figure);
  std::vector<Segment> segments;
  if (const auto share = FigureNumber(model, figure); share && unknown.empty()) {
    const double part = std::clamp(*share, 0.0, 1.0);
    segments = {{used, part, FormatValue(part, Unit::kRatio), color},
                {rest, 1 - part, FormatValue(1 - part, Unit::kRatio), "c-idle6"}};
  }
  return DonutCard(figure, title, tip, segments, FigureText(model, figure), unknown);
}

data TableCard(const ReportModel& model, const char* table_id, const std::string& tip, const char* column) {
  const ReportTable* table = FindTable(model, table_id);
  std::vector<Segment> segments;
  if (table != nullptr) segments = TableSegments(*table, column);
  double total = 0;
  for (const Segment& segment : segments) total += segment.value;
  const std::string scope = table == nullptr || table->scope.empty() ? "" : " " + table->scope;
  return DonutCard(table_id, table == nullptr ? table_id : table->title, tip + scope, segments,
                   FormatValue(total, Unit::kNanoseconds), total > 0 ? "" : "no GPU time was recorded");
}

// Why more is used than the headline says is not lost.
std::string UtilizationText(const ReportModel& model) {
  constexpr double kMuch = 0.01;
  double communication = 0, total = 0;
  for (const Segment& segment : HeadlineSegments(model)) {
    total += segment.value;
    if (segment.label.starts_with("communication/")) communication += segment.value;
  }
  if (!(communication > kMuch * total)) return "";
  return fmt::format(
      " Kernels of collectives count as use here, also while they wait; the headline counts the {} in "
      "which nothing else ran as lost.",
      FormatValue(communication / total, Unit::kRatio));
}

data DashboardCards(const ReportModel& model) {
  data cards{data::type::list};
  cards << ShareCard(
      model, "gpu_utilization", "GPU Utilization",
      "Share of the analysed time in which a kernel ran, mean over GPUs." + UtilizationText(model),
      "Using GPU", "Idle GPU", "c-tensor");
  cards << TableCard(
      model, "resource_usage",
      "Where the time of the steps went (without steps, of the whole profile); mean over GPUs.", "ns");
  cards << TableCard(model, "kernel_gpu_time",
                     "Kernel durations added up; eligible are those of ops that could use tensor cores.",
                     "gpu_ns");
  cards << ShareCard(model, "tensor_core_efficiency", "Tensor Core Kernel Efficiency",
                     "Of the kernel time of ops that could use tensor cores, the part that does.",
                     "Using Tensor Cores", "Eligible, not using", "c-tensor");
  return cards;
}

// GPUs whose sensors are drawn, as telemetry_chart selects them.
constexpr size_t kDrawnSensors = 12;

// Bars for the iterations of the first rank.
const ReportTable* IterationBars(const ReportModel& model) { return FindTable(model, "iteration_chart"); }

// How many iterations the widest bar is the mean of.
double MostInBar(const ReportModel& model) {
  const ReportTable* table = IterationBars(model);
  double most = 1;
  for (size_t row = 0; table != nullptr && row < table->rows.rows.size(); ++row)
    most = std::max(most, AsNumber(CellOf(*table, row, "iterations")).value_or(0));
  return most;
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

data TextList(const std::vector<std::string>& texts) {
  data items{data::type::list};
  for (const std::string& text : texts) items << data{"text", text};
  return items;
}

// Of how many GPUs LedgerBars draws the ledger.
std::vector<std::string> LedgerSentences(const ReportModel& model) {
  const double gpus = FigureNumber(model, "gpus").value_or(0);
  if (!(gpus > kDrawnLedgers)) return {};
  return {fmt::format("The first {} of {} GPUs are drawn.", kDrawnLedgers, FigureText(model, "gpus"))};
}

// Ops under their groups; modules.
std::string ViewTree(const ReportModel& model, std::string_view view) {
  const bool groups = view == "group-ops";
  const ReportTable* table = groups              ? FindTable(model, "ops")
                             : view == "modules" ? FindTable(model, "modules")
                                                 : nullptr;
  return table == nullptr ? "" : OpTreeHtml(*table, groups ? "op" : "module", !groups);
}

data ViewList(const ReportModel& model) {
  data views{data::type::list};
  const bool log_alone = TelemetryAlone(model) != nullptr || TrainingAlone(model) != nullptr;
  for (const View& view : Views()) {
    data tables{data::type::list};
    size_t rows = 0;
    for (const char* id : view.tables) {
      const ReportTable* table = FindTable(model, id);
      if (table == nullptr) continue;
      if (rows == 0) rows = table->total_rows;
      tables << TableData(*table, ShownColumns(model, *table));
    }
    if (tables.is_empty_list()) continue;  // of another format
    if (rows == 0 && log_alone) continue;
    data item;
    item.set("view_id", view.id);
    item.set("view_title", view.title);
    item.set("count", rows == 0 ? "no rows"
                                : fmt::format("{} row{}", WithThousands(static_cast<int64_t>(rows)),
                                              rows == 1 ? "" : "s"));
    item.set("tables", tables);
    item.set("several", tables.list_value().size() > 1);
    item.set("chart", view.id == std::string_view("iterations")
                          ? TextOrFalse(IterationChart(model, "iterations-chart"))
                          : data{false});
    item.set("sentences",
             TextList(view.id == std::string_view("ranks")         ? RankSentences(model)
                      : view.id == std::string_view("time-ledger") ? LedgerSentences(model)
                                                                   : std::vector<std::string>()));
    item.set("tree", TextOrFalse(ViewTree(model, view.id)));
    item.set("plots", view.id == std::string_view("time-ledger")      ? LedgerBars(model)
                      : view.id == std::string_view("memory")         ? MemoryCurves(model)
                      : view.id == std::string_view("ranks")          ? RankPlots(model)
                      : view.id == std::string_view("speed-of-light") ? RooflinePlots(model)
                      : view.id == std::string_view("pipeline")       ? PipelinePlots(model)
                                                                      : data{data::type::list});
    views << item;
  }
  return views;
}

data FigureQueriesData(const ReportModel& model) {
  data items{data::type::list};
  for (const Figure& figure : model.figures) {
    data item;
    item.set("label", figure.label);
    item.set("value", Ellipsize(Visible(FormatValue(figure.value, figure.unit)), 120));
    item.set("because", IsNull(figure.value) ? TextOrFalse(figure.unknown_because) : data{false});
    item.set("sql", figure.sql);
    items << item;
  }
  return items;
}

// Parts of less than `least` of the whole are one: the bar shows them, and the ledger names them.
std::vector<Segment> WithoutSmall(const std::vector<Segment>& segments, double least) {
  double total = 0;
  for (const Segment& segment : segments) total += segment.value;
  std::vector<Segment> kept;
  Segment rest{"others", 0, "", "c-other"};
  size_t small = 0;
  for (const Segment& segment : segments) {
    if (segment.value >= least * total) {
      kept.push_back(segment);
      continue;
    }
    rest.value += segment.value;
    ++small;
  }
  if (small < 2) return segments;
  rest.label = fmt::format("{} others", small);
  rest.text = FormatValue(rest.value, Unit::kNanoseconds);
  kept.push_back(std::move(rest));
  return kept;
}

// One bar; of a job the GPU that sets the pace over the one in the middle.
data HeadlineBars(const ReportModel& model) {
  data bars{data::type::list};
  const std::string pacing = HeadlineGpu(model), typical = TypicalGpu(model);
  const auto add = [&](const char* id, const std::string& label, const std::vector<Segment>& segments,
                       double least) {
    if (segments.empty()) return;
    data bar;
    bar.set("label", TextOrFalse(label));
    bar.set("svg", StackedBar(id, "Where the time goes" + (label.empty() ? "" : ": " + label), segments));
    bar.set("legend", LegendData(WithoutSmall(segments, least)));
    bars << bar;
  };
  const std::vector<Segment> of_typical = TypicalSegments(model);
  add("headline-ledger", of_typical.empty() || pacing.empty() ? "" : "Sets the pace: " + pacing,
      HeadlineSegments(model), 0.01);
  if (!typical.empty()) add("typical-ledger", "Typical: " + typical, of_typical, 0.04);
  return bars;
}

// Where the page shows the finding that the headline speaks of.
std::string FirstAnchor(const ReportModel& model, const std::vector<FindingGroup>& groups) {
  const auto first = DoFirst(model);
  for (const FindingGroup& group : groups)
    if (first && std::ranges::find(group.findings, *first) != group.findings.end())
      return FindingAnchor(model.advice->findings[group.findings[0]]);
  return "";
}

data PageData(const ReportModel& model) {
  const Advice& advice = *model.advice;
  data page;
  for (const char* part : {"table", "donut", "legend", "finding", "rules", "figures"})
    page.set(std::string(part) + "_part", Template(fmt::format("parts/{}.html", part)));
  page.set("style", Template("style.css"));
  page.set("script", Template("report.js"));
  page.set("page_title", model.options.title);
  page.set("generator", model.options.generator);
  page.set("inputs", TextOrFalse(InputsText(model)));
  page.set("banner", TextOrFalse(model.options.banner));
  page.set(
      "headline",
      ProseHtml(
          std::string_view(model.headline).substr(0, model.headline.size() - model.headline_action.size())));
  page.set("action", model.headline_action.empty() ? data{false} : data{ProseHtml(model.headline_action)});
  page.set("headline_bars", HeadlineBars(model));
  page.set("has_headline_bar", !HeadlineSegments(model).empty());
  page.set("headline_gpu", TextOrFalse(HeadlineGpu(model)));
  page.set("coverage", CoverageText(advice));
  page.set("total_saving", TextOrFalse(TotalSavingText(model)));
  page.set("cards", DashboardCards(model));
  page.set("performance", FigureList(model, PerformanceFigures()));
  page.set("hardware_to_declare", TextOrFalse(HardwareToDeclare(model)));
  page.set("iteration_chart", TextOrFalse(IterationChart(model, "iteration-summary-chart")));
  const double per_bar = MostInBar(model);
  page.set("iterations_per_bar", per_bar > 1 ? data{fmt::format("{:.0f}", per_bar)} : data{false});
  data training{data::type::list};
  for (const auto& [label, value] : TrainingSummary(model)) {
    data item;
    item.set("label", label);
    item.set("value", value);
    item.set("because", data{false});
    training << item;
  }
  page.set("has_training", !training.is_empty_list());
  page.set("training", training);
  const ReportTable* iterations = FindTable(model, "iterations");
  page.set("iteration_rank", FigureNumber(model, "ranks").value_or(0) < 2 || iterations == nullptr ||
                                     iterations->rows.rows.empty()
                                 ? data{false}
                                 : data{FormatValue(CellOf(*iterations, 0, "rank"), Unit::kNone)});
  page.set("step_source",
           TextOrFalse(WhyUnknown(model, "step_source").empty() ? FigureText(model, "step_source") : ""));
  page.set("step_pattern",
           TextOrFalse(WhyUnknown(model, "step_pattern").empty() ? FigureText(model, "step_pattern") : ""));
  data top{data::type::list};
  if (const ReportTable* ops = FindTable(model, "top_ops")) top << TableData(*ops, ShownColumns(model, *ops));
  page.set("top_ops", top);
  page.set("rank_sentences", TextList(RankSentences(model)));
  data to_open{data::type::list};
  if (const ReportTable* open = FindTable(model, "profiles_to_open"))
    to_open << TableData(*open, ShownColumns(model, *open));
  page.set("profiles_to_open", to_open);
  const std::vector<FindingGroup> groups = GroupFindings(model);
  page.set("findings", FindingList(model, groups));
  page.set("first", TextOrFalse(FirstAnchor(model, groups)));
  page.set("has_findings", !groups.empty());
  const data timeline = TimelinePlots(model, groups);
  page.set("has_timeline", !timeline.is_empty_list());
  page.set("timeline", timeline);
  const data series = SeriesPlots(model);
  page.set("has_series", !series.is_empty_list());
  page.set("series", series);
  const ReportTable* telemetry = TelemetryAlone(model);
  const bool log_alone = telemetry != nullptr || TrainingAlone(model) != nullptr;
  page.set("log_alone", log_alone);
  std::vector<std::string_view> system(SystemFigures().begin(), SystemFigures().end());
  if (log_alone) std::erase_if(system, [&](std::string_view id) { return !WhyUnknown(model, id).empty(); });
  page.set("system_config", FigureList(model, system));
  data sensors{data::type::list};
  if (telemetry != nullptr) sensors << TableData(*telemetry, ShownColumns(model, *telemetry));
  page.set("telemetry", sensors);
  page.set("series_left_out", TextOrFalse(telemetry != nullptr && telemetry->total_rows > kDrawnSensors
                                              ? fmt::format("The first {} of {} GPUs are drawn.",
                                                            kDrawnSensors, telemetry->total_rows)
                                              : ""));
  page.set("finding_count", fmt::format("{}", groups.size()));
  page.set("views", ViewList(model));
  page.set("rules", RuleList(advice));
  const std::vector<std::string> flags = CaptureFlags(model);
  page.set("capture_flags", flags.empty() ? data{false} : data{fmt::format("{}", fmt::join(flags, " "))});
  const ReportTable* profiles = FindTable(model, "profiles");
  page.set("profiles", profiles == nullptr ? data{data::type::list} : RecordsData(*profiles));
  page.set("profiles_left_out",
           TextOrFalse(profiles == nullptr ? "" : LeftOutText(*profiles, kMaxRecords, "profiles")));
  data capture{data::type::list};
  for (const char* id : {"diagnostics", "system"})
    if (const ReportTable* table = FindTable(model, id))
      capture << TableData(*table, ShownColumns(model, *table));
  page.set("capture_tables", capture);
  page.set("figures", FigureQueriesData(model));
  return page;
}

}  // namespace

std::string RenderHtml(const ReportModel& model) {
  return RenderTemplate("report.html", PageData(model), EscapeHtml);
}

}  // namespace dladvisor
