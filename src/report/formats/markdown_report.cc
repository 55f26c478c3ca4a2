// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/markdown_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/render/escape.h"
#include "src/report/formats/html_parts.h"
#include "src/report/model/column_style.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/dashboard.h"
#include "src/report/sections/finding_groups.h"
#include "src/report/sections/findings_section.h"
#include "src/report/sections/ledger_section.h"
#include "src/report/sections/log_section.h"
#include "src/report/sections/pipeline_section.h"
#include "src/report/sections/ranks_section.h"

namespace dladvisor {
namespace {

std::string Joined(const std::vector<std::string>& recommendations) {
  std::string joined;
  for (const std::string& text : recommendations) {
    if (!joined.empty()) joined += "<br>";
    joined += ProseMarkdown(text);
  }
  return joined;
}

data Findings(const ReportModel& model) {
  data items{data::type::list};
  for (const FindingGroup& group : GroupFindings(model)) {
    const Finding& finding = model.advice->findings[group.findings[0]];
    data item;
    item.set("severity", std::string(SeverityName(finding.severity)));
    item.set("rule", finding.rule);
    item.set("problem", std::string(group.depth > 0 ? "↳ " : "") + ProseMarkdown(group.problem.text));
    item.set("subject", TextOrFalse(group.subject));
    item.set("recommendation", Joined(group.recommendation));
    item.set("saving", group.per_day.empty() ? group.saving : group.saving + "; " + group.per_day);
    items << item;
  }
  return items;
}

data TopOps(const ReportTable& table) {
  data items{data::type::list};
  for (size_t row = 0; row < table.rows.rows.size(); ++row) {
    const auto cell = [&](const char* column) {
      return CellText(CellOf(table, row, column), StyleOf({column, Unit::kNone}));
    };
    data item;
    item.set("gpu_ns", cell("gpu_ns"));
    item.set("share", cell("share"));
    item.set("op", Ellipsize(Visible(cell("op")), 120));
    item.set("op_type", Ellipsize(Visible(cell("op_type")), 60));
    item.set("calls", cell("calls"));
    item.set("eligible", cell("tensor_core_eligible"));
    item.set("using", cell("uses_tensor_cores"));
    items << item;
  }
  return items;
}

data MemoryOperators(const ReportModel& model) {
  data items{data::type::list};
  const ReportTable* table = FindTable(model, "memory_operators");
  for (size_t row = 0; table != nullptr && row < table->rows.rows.size(); ++row) {
    const auto cell = [&](const char* column) {
      return CellText(CellOf(*table, row, column), StyleOf({column, Unit::kNone}));
    };
    data item;
    item.set("self_allocated", cell("self_allocated_bytes"));
    item.set("allocated", cell("allocated_bytes"));
    item.set("self_increase", cell("self_increase_bytes"));
    item.set("calls", cell("calls"));
    item.set("operator", Ellipsize(Visible(cell("name")), 120));
    items << item;
  }
  return items;
}

data PipelineStages(const ReportModel& model) {
  data items{data::type::list};
  for (const size_t row : DrawnStages(model)) {
    data item;
    for (const char* column :
         {"stage", "rank", "forward_ns", "backward_ns", "weight_ns", "work_ns", "bubble_share"})
      item.set(column, CellText(CellOf(*FindTable(model, "pipeline_stages"), row, column),
                                StyleOf({column, Unit::kNone})));
    items << item;
  }
  return items;
}

// Rows of a table by the names of its columns.
data RowsOf(const ReportTable* table, const std::vector<const char*>& columns, size_t most) {
  data items{data::type::list};
  for (size_t row = 0; table != nullptr && row < std::min(table->rows.rows.size(), most); ++row) {
    data item;
    for (const char* column : columns)
      item.set(
          column,
          Ellipsize(Visible(CellText(CellOf(*table, row, column), StyleOf({column, Unit::kNone}))), 160));
    items << item;
  }
  return items;
}

std::string LeftOut(const ReportModel& model, std::string_view table_id, size_t most) {
  const ReportTable* table = FindTable(model, table_id);
  return table == nullptr ? "" : LeftOutText(*table, std::min(table->rows.rows.size(), most));
}

data Telemetry(const ReportModel& model) {
  data items{data::type::list};
  const ReportTable* table = FindTable(model, "telemetry");
  for (size_t row = 0; table != nullptr && row < table->rows.rows.size(); ++row) {
    data item;
    for (const char* column :
         {"profile", "device", "gpu_utilization", "peak_memory_bytes", "total_memory_bytes", "mean_power",
          "power_limit", "highest_temperature", "mean_sm_clock"})
      item.set(column, CellText(CellOf(*table, row, column), StyleOf({column, Unit::kNone})));
    items << item;
  }
  return items;
}

}  // namespace

std::string RenderMarkdown(const ReportModel& model) {
  data page;
  page.set("page_title", model.options.title);
  page.set("banner", TextOrFalse(model.options.banner));
  page.set("headline", ProseMarkdown(model.headline));
  page.set("findings", Findings(model));
  page.set("has_findings", !FindingTree(*model.advice).empty());
  const std::vector<Segment> ledger = HeadlineSegments(model);
  page.set("has_ledger", !ledger.empty());
  page.set("ledger", LegendData(ledger));
  page.set("ledger_gpu", TextOrFalse(HeadlineGpu(model)));
  page.set("coverage", CoverageText(*model.advice));
  page.set("total_saving", TextOrFalse(TotalSavingText(model)));
  std::string flags = fmt::format("{}", fmt::join(CaptureFlags(model), " "));
  std::erase(flags, '`');
  page.set("capture_flags", TextOrFalse(Visible(flags)));
  page.set("performance", FigureList(model, PerformanceFigures()));
  page.set("has_system", !ShownFigures(model, SystemFigures()).empty());
  page.set("system_config", FigureList(model, SystemFigures()));
  std::string hardware = HardwareToDeclare(model);
  std::erase(hardware, '`');
  page.set("hardware_to_declare", TextOrFalse(Visible(hardware)));
  const ReportTable* ops = FindTable(model, "top_ops");
  page.set("has_ops", ops != nullptr && !ops->rows.rows.empty());
  page.set("ops_scope", TextOrFalse(ops == nullptr ? "" : ops->scope));
  page.set("ops", ops == nullptr ? data{data::type::list} : TopOps(*ops));
  const data memory = MemoryOperators(model);
  page.set("has_memory", !memory.is_empty_list());
  page.set("memory_operators", memory);
  data sentences{data::type::list};
  for (const std::string& sentence : PipelineSentences(model)) sentences << data{"text", sentence};
  page.set("has_pipelines", !sentences.is_empty_list());
  page.set("pipelines", sentences);
  page.set("pipeline_stages", PipelineStages(model));
  page.set("stages_left_out", TextOrFalse(StagesLeftOutText(model)));
  const ReportTable* rank_table = FindTable(model, "ranks");
  const data ranks = RowsOf(
      rank_table,
      {"rank", "device", "node", "own_ns", "excess_ns", "kernel_ns", "gap_ns", "start_gap_ns", "waiting_ns"},
      kTopRanks);
  page.set("has_ranks", !ranks.is_empty_list());
  page.set("ranks_left_out", TextOrFalse(LeftOut(model, "ranks", kTopRanks)));
  page.set("ranks", ranks);
  page.set("has_rank_times", rank_table != nullptr && HasTimesOfRanks(*rank_table));
  data rank_sentences{data::type::list};
  for (const std::string& sentence : RankSentences(model)) rank_sentences << data{"text", sentence};
  page.set("rank_sentences", rank_sentences);
  const data to_open = RowsOf(FindTable(model, "profiles_to_open"),
                              {"pace", "rank", "node", "step", "start_s", "end_s", "path"}, 3);
  page.set("has_profiles_to_open", !to_open.is_empty_list());
  page.set("profiles_to_open", to_open);
  const data telemetry = Telemetry(model);
  page.set("has_telemetry", !telemetry.is_empty_list());
  page.set("telemetry", telemetry);
  page.set("telemetry_left_out", TextOrFalse(LeftOut(model, "telemetry", kMaxReportRows)));
  const LogSummary log = LogSummaryOf(model);
  data log_items{data::type::list};
  for (const auto& [label, value] : log.items) {
    data item;
    item.set("label", label);
    item.set("value", value);
    log_items << item;
  }
  page.set("has_log", !log.items.empty());
  page.set("log_title", log.title);
  page.set("log_items", log_items);
  page.set("generator", model.options.generator);
  return RenderTemplate("report.md", page, EscapeMarkdown);
}

}  // namespace dladvisor
