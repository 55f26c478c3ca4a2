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
#include "src/report/formats/html_views.h"
#include "src/report/formats/series_plots.h"
#include "src/report/formats/timeline_plot.h"
#include "src/report/model/column_style.h"
#include "src/report/model/queries.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/dashboard.h"
#include "src/report/sections/do_first.h"
#include "src/report/sections/finding_groups.h"
#include "src/report/sections/finding_words.h"
#include "src/report/sections/findings_section.h"
#include "src/report/sections/ledger_section.h"
#include "src/report/sections/log_section.h"
#include "src/report/sections/ranks_section.h"
#include "src/report/sections/telemetry_section.h"

namespace dladvisor {
namespace {

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
    segments = {{used, part, FormatValue(part, Unit::kRatio), color, true},
                {rest, 1 - part, FormatValue(1 - part, Unit::kRatio), "c-idle6", true}};
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

// One bar; of a job the GPU that sets the pace over the one in the middle, whose legends leave it to the view
// of the ledger to say what buckets are, so that the first finding is in sight.
data HeadlineBars(const ReportModel& model) {
  data bars{data::type::list};
  const std::string pacing = HeadlineGpu(model), typical = TypicalGpu(model);
  const auto add = [&](const char* id, const std::string& label, const std::vector<Segment>& segments,
                       double least) {
    if (segments.empty()) return;
    data bar;
    bar.set("label", TextOrFalse(label));
    bar.set("svg", StackedBar(id, "Where the time goes" + (label.empty() ? "" : ": " + label), segments));
    bar.set("legend", LegendData(WithoutSmall(segments, least), typical.empty()));
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
  for (const char* part : {"table", "donut", "legend", "plot", "finding", "rules", "figures"})
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
  const bool has_gpu_work = FigureNumber(model, "gpus").value_or(0) > 0;
  page.set("cards", has_gpu_work ? DashboardCards(model) : data{data::type::list});
  page.set("has_gpu_work", has_gpu_work);
  std::vector<std::string_view> performance(PerformanceFigures().begin(), PerformanceFigures().end());
  if (!has_gpu_work)
    std::erase_if(performance, [&](std::string_view id) { return !WhyUnknown(model, id).empty(); });
  page.set("performance", FigureList(model, performance));
  page.set("hardware_to_declare", TextOrFalse(HardwareToDeclare(model)));
  const std::string iterations_chart = IterationChart(model, "iteration-summary-chart");
  page.set("iteration_chart", TextOrFalse(iterations_chart));
  page.set("has_warmup", HasWarmUpBar(model));
  page.set("has_iterations", has_gpu_work || !iterations_chart.empty());
  const double per_bar = MostInBar(model);
  page.set("iterations_per_bar", per_bar > 1 ? data{fmt::format("{:.0f}", per_bar)} : data{false});
  const LogSummary log = LogSummaryOf(model);
  data log_items{data::type::list};
  for (const auto& [label, value] : log.items) {
    data item;
    item.set("label", label);
    item.set("value", value);
    item.set("because", data{false});
    log_items << item;
  }
  page.set("has_log", !log.items.empty());
  page.set("log_title", log.title);
  page.set("log_items", log_items);
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
  const bool log_alone = telemetry != nullptr || IsProgramsLogAlone(model);
  page.set("log_alone", log_alone);
  page.set("system_config", FigureList(model, SystemFigures()));
  data sensors{data::type::list};
  if (telemetry != nullptr) sensors << TableData(*telemetry, ShownColumns(model, *telemetry));
  page.set("telemetry", sensors);
  page.set("series_left_out", TextOrFalse(telemetry != nullptr && telemetry->total_rows > kDrawnSensors
                                              ? fmt::format("The first {} of {} GPUs are drawn.",
                                                            kDrawnSensors, telemetry->total_rows)
                                              : ""));
  page.set("finding_count", fmt::format("{}", groups.size()));
  std::vector<std::string> without_rows;
  page["views"] = ViewList(model, without_rows);
  page.set("views_without_rows", log_alone || without_rows.empty()
                                     ? data{false}
                                     : data{fmt::format("{}", fmt::join(without_rows, ", "))});
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
