// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/json_report.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/finding_id.h"
#include "src/report/formats/json_values.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/day_saving.h"
#include "src/report/sections/do_first.h"
#include "src/report/sections/findings_section.h"

namespace dladvisor {
namespace {

using Json = OrderedJson;

Json Of(const std::vector<NamedValue>& values) {
  Json items = Json::array();
  for (const NamedValue& value : values)
    items.push_back({{"name", ValidUtf8(value.name)},
                     {"value", ToJson(value.value)},
                     {"unit", std::string(UnitName(value.unit))}});
  return items;
}

Json Of(const std::vector<RenderedMessage>& messages) {
  Json items = Json::array();
  for (const RenderedMessage& message : messages) items.push_back(ValidUtf8(message.text));
  return items;
}

Json Compared(const ConditionTrace& condition) {
  Json items = Json::array();
  for (const ComparedValues& values : condition.compared)
    items.push_back({{"left", ValidUtf8(values.left)},
                     {"operator", values.op},
                     {"right", ValidUtf8(values.right)},
                     {"left_value", ToJson(values.left_value)},
                     {"right_value", ToJson(values.right_value)}});
  return items;
}

Json Why(const Finding& finding) {
  Json items = Json::array();
  for (const ConditionTrace& condition : finding.why)
    items.push_back({{"condition", ValidUtf8(condition.sql)},
                     {"holds", condition.holds ? Json(*condition.holds) : Json()},
                     {"facts", Of(condition.facts)},
                     {"compared", Compared(condition)}});
  return items;
}

// Null of what saves nothing, or does not recur.
Json PerDayToJson(const ReportModel& model, const Finding& finding) {
  const auto day = finding.saves ? PerDay(model, *finding.saves) : std::nullopt;
  if (!day) return {};
  return {{"low_gpu_hours", day->low_gpu_hours},
          {"high_gpu_hours", day->high_gpu_hours},
          {"low_money", day->low_money ? Json(*day->low_money) : Json()},
          {"high_money", day->high_money ? Json(*day->high_money) : Json()},
          {"currency", ValidUtf8(model.options.price.currency)},
          {"low_kwh", day->low_kwh ? Json(*day->low_kwh) : Json()},
          {"high_kwh", day->high_kwh ? Json(*day->high_kwh) : Json()}};
}

Json Of(const ReportModel& model, const Finding& finding) {
  return {
      {"id", ValidUtf8(FindingId(finding))},
      {"rule", ValidUtf8(finding.rule)},
      {"title", ValidUtf8(finding.title)},
      {"severity", std::string(SeverityName(finding.severity))},
      {"confidence", std::string(ConfidenceName(finding.confidence))},
      {"subject", SubjectToJson(finding)},
      {"outcome", std::string(OutcomeName(finding.outcome))},
      {"problem", ValidUtf8(finding.problem.text)},
      {"recommendation", Of(finding.recommendation)},
      {"code", ValidUtf8(finding.code)},
      {"saves", ToJson(finding.saves)},
      {"saves_per_day", PerDayToJson(model, finding)},
      {"why", Why(finding)},
      {"lets", Of(finding.lets)},
      {"evidence", {{"columns", ColumnsToJson(finding.evidence)}, {"rows", RowsToJson(finding.evidence)}}},
      {"evidence_sql", ValidUtf8(finding.evidence_sql)},
      {"references", ToJson(finding.references)},
      {"missing", ToJson(finding.missing)},
      {"lacks", ToJson(finding.lacks)},
      {"capture", ToJson(finding.capture)},
      {"suppressed_by", ValidUtf8(finding.suppressed_by)},
      {"error", ValidUtf8(finding.error)},
      {"alike", size_t{1}},
      {"children", Json::array()}};
}

// What subjects of a rule lack: those that lack the same are told once.
std::string LackOf(const Finding& finding) {
  return fmt::format("{}\n{}\n{}\n{}", finding.rule, fmt::join(finding.missing, ","),
                     fmt::join(finding.capture, ","), finding.error);
}

// The tree that FindingTree flattened, then what did not fire and is not clear. Clear subjects are counted in
// `outcomes`: a rule over ops has thousands. Of unknown ones that lack the same the first is listed.
Json FindingsJson(const ReportModel& model) {
  const Advice& advice = *model.advice;
  Json roots = Json::array();
  std::vector<Json*> path;  // the last finding of each depth
  for (const auto& [index, depth] : FindingTree(advice)) {
    path.resize(depth);
    Json& siblings = depth == 0 ? roots : (*path[depth - 1])["children"];
    siblings.push_back(Of(model, advice.findings[index]));
    path.push_back(&siblings.back());
  }
  std::map<std::string, size_t> listed;  // by what they lack
  for (const Finding& finding : advice.findings) {
    if (finding.outcome == Outcome::kFired || finding.outcome == Outcome::kClear) continue;
    if (finding.outcome == Outcome::kUnknown) {
      const auto [entry, is_new] = listed.emplace(LackOf(finding), roots.size());
      if (!is_new) {
        Json& alike = roots[entry->second]["alike"];
        alike = alike.get<size_t>() + 1;
        continue;
      }
    }
    roots.push_back(Of(model, finding));
  }
  return roots;
}

Json Savings(const Advice& advice) {
  Json items = Json::array();
  for (const BucketSaving& saving : advice.savings)
    items.push_back({{"bucket", saving.bucket}, {"low_ns", saving.low_ns}, {"high_ns", saving.high_ns}});
  return items;
}

Json Outcomes(const Advice& advice) {
  Json items = Json::array();
  for (const RuleSummary& rule : advice.rules)
    items.push_back({{"rule", ValidUtf8(rule.id)},
                     {"title", ValidUtf8(rule.title)},
                     {"category", ValidUtf8(rule.category)},
                     {"severity", std::string(SeverityName(rule.severity))},
                     {"subjects", rule.subjects},
                     {"fired", rule.fired},
                     {"clear", rule.clear},
                     {"unknown", rule.unknown},
                     {"suppressed", rule.suppressed},
                     {"failed", rule.failed},
                     {"note", ValidUtf8(rule.note)}});
  return items;
}

}  // namespace

std::string RenderJson(const ReportModel& model) {
  const Advice& advice = *model.advice;
  const auto first = DoFirst(model);
  Json figures = Json::array();
  for (const Figure& figure : model.figures)
    figures.push_back({{"id", figure.id},
                       {"label", figure.label},
                       {"value", ToJson(figure.value)},
                       {"unit", std::string(UnitName(figure.unit))},
                       {"sql", figure.sql},
                       {"unknown_because", ValidUtf8(figure.unknown_because)}});
  Json tables = Json::array();
  for (const ReportTable& table : model.tables)
    tables.push_back({{"id", table.id},
                      {"title", table.title},
                      {"note", ValidUtf8(table.note)},
                      {"sql", table.sql},
                      {"total_rows", table.total_rows},
                      {"columns", ColumnsToJson(table.rows)},
                      {"rows", RowsToJson(table.rows)}});
  const Json report = {
      {"schema_version", 1},
      {"generator", ValidUtf8(model.options.generator)},
      {"summary",
       {{"title", ValidUtf8(model.options.title)},
        {"headline", ValidUtf8(model.headline)},
        {"first", first ? Json(ValidUtf8(advice.findings[*first].rule)) : Json()},
        {"banner", ValidUtf8(model.options.banner)},
        {"gpu_work", HasGpuWork(model)},
        {"savings_per", FigureNumber(model, "step_time") ? "step" : "window"},
        {"capture_flags", ToJson(CaptureFlags(model))}}},
      {"figures", std::move(figures)},
      {"tables", std::move(tables)},
      {"findings", FindingsJson(model)},
      {"outcomes", Outcomes(advice)},
      {"savings", Savings(advice)},
      {"coverage",
       {{"rules", advice.coverage.rules},
        {"decided", advice.coverage.decided},
        {"without_subject", advice.coverage.idle}}},
  };
  return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dladvisor
