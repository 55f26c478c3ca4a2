// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/json_summary.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "engine/model/finding_id.h"
#include "src/report/formats/json_values.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/dashboard.h"
#include "src/report/sections/finding_groups.h"
#include "src/report/sections/headline.h"

namespace dladvisor {
namespace {

constexpr size_t kMostText = 600, kMostIds = 8, kMostEvidenceRows = 3, kMostFacts = 8, kMostUndecided = 40;

// As much of a text as is worth its room; names of kernels can be thousands of letters long.
std::string Short(const std::string& text) {
  if (text.size() <= kMostText) return ValidUtf8(text);
  size_t end = kMostText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return ValidUtf8(text.substr(0, end)) + "...";
}

OrderedJson ShortValue(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? OrderedJson(Short(*text)) : ToJson(value);
}

// The first rows as objects.
OrderedJson Evidence(const ResultSet& evidence) {
  OrderedJson rows = OrderedJson::array();
  for (size_t i = 0; i < std::min(evidence.rows.size(), kMostEvidenceRows); ++i) {
    OrderedJson row = OrderedJson::object();
    for (size_t c = 0; c < evidence.columns.size(); ++c)
      row[ValidUtf8(evidence.columns[c].name)] = ShortValue(evidence.rows[i][c]);
    rows.push_back(std::move(row));
  }
  return rows;
}

// What the conditions compare, by name.
OrderedJson Facts(const Finding& finding) {
  OrderedJson facts = OrderedJson::object();
  for (const ConditionTrace& condition : finding.why)
    for (const NamedValue& fact : condition.facts)
      if (facts.size() < kMostFacts) facts[ValidUtf8(fact.name)] = ShortValue(fact.value);
  return facts;
}

OrderedJson FindingOf(const ReportModel& model, const FindingGroup& group) {
  const Finding& finding = model.advice->findings[group.findings[0]];
  OrderedJson ids = OrderedJson::array();
  for (size_t i = 0; i < std::min(group.findings.size(), kMostIds); ++i)
    ids.push_back(ValidUtf8(FindingId(model.advice->findings[group.findings[i]])));
  OrderedJson advice = OrderedJson::array();
  for (const std::string& text : group.recommendation) advice.push_back(Short(text));
  return {{"ids", std::move(ids)},
          {"count", group.findings.size()},
          {"rule", ValidUtf8(finding.rule)},
          {"depth", group.depth},
          {"severity", std::string(SeverityName(finding.severity))},
          {"confidence", std::string(ConfidenceName(finding.confidence))},
          {"subject", Short(group.subject)},
          {"problem", Short(group.problem)},
          {"recommendation", std::move(advice)},
          {"saves", ToJson(finding.saves)},
          {"facts", Facts(finding)},
          {"evidence", Evidence(finding.evidence)}};
}

OrderedJson FigureOf(const Figure& figure) {
  OrderedJson json = {{"id", figure.id},
                      {"label", figure.label},
                      {"value", ShortValue(figure.value)},
                      {"unit", std::string(UnitName(figure.unit))}};
  if (IsNull(figure.value)) json["unknown_because"] = Short(figure.unknown_because);
  return json;
}

OrderedJson FiguresOf(const ReportModel& model) {
  OrderedJson figures = OrderedJson::array();
  for (const auto& ids : {PerformanceFigures(), SystemFigures()})
    for (const std::string_view id : ids)
      if (const Figure* figure = FindFigure(model, id)) figures.push_back(FigureOf(*figure));
  return figures;
}

// Rules that cannot tell, with what would let them; each once.
std::map<std::string, OrderedJson> UndecidedOf(const Advice& advice) {
  std::map<std::string, OrderedJson> rules;
  for (const Finding& finding : advice.findings)
    if (finding.outcome == Outcome::kUnknown)
      rules.try_emplace(ValidUtf8(finding.rule), ToJson(finding.capture));
  return rules;
}

std::string Dump(const OrderedJson& json) {
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace

std::string RenderJsonSummary(const ReportModel& model, size_t most_bytes, size_t skip) {
  const Advice& advice = *model.advice;
  const auto first = DoFirst(model);
  OrderedJson summary = {
      {"schema_version", 1},
      {"generator", ValidUtf8(model.options.generator)},
      {"title", Short(model.options.title)},
      {"banner", Short(model.options.banner)},
      {"headline", Short(model.headline)},
      {"first", first ? OrderedJson(ValidUtf8(FindingId(advice.findings[*first]))) : OrderedJson()},
      {"gpu_work", HasGpuWork(model)},
      {"figures", FiguresOf(model)},
      {"findings", OrderedJson::array()},
      {"findings_left_out", 0},
      {"undecided", OrderedJson::array()},
      {"undecided_left_out", 0},
      {"capture_flags", ToJson(CaptureFlags(model))},
      {"coverage",
       {{"rules", advice.coverage.rules},
        {"decided", advice.coverage.decided},
        {"without_subject", advice.coverage.idle}}}};
  size_t bytes = Dump(summary).size();
  // Room for both: the larger part is that of the findings.
  const size_t for_findings = bytes + (most_bytes - std::min(bytes, most_bytes)) * 4 / 5;
  const auto add = [&](const char* list, OrderedJson item, size_t most) {
    OrderedJson alone;  // as deep as it will lie
    alone["list"] = OrderedJson::array({item});
    const size_t size = Dump(alone).size();
    if (bytes + size > most) return false;
    bytes += size;
    summary[list].push_back(std::move(item));
    return true;
  };
  const std::vector<FindingGroup> groups = GroupFindings(model);
  size_t left_out = 0;
  for (size_t i = std::min(skip, groups.size()); i < groups.size(); ++i)
    if (left_out > 0 || !add("findings", FindingOf(model, groups[i]), for_findings)) ++left_out;
  summary["findings_left_out"] = left_out;
  left_out = 0;
  for (auto& [rule, capture] : UndecidedOf(advice))
    if (summary["undecided"].size() == kMostUndecided ||
        !add("undecided", {{"rule", rule}, {"record", std::move(capture)}}, most_bytes - 100))
      ++left_out;
  summary["undecided_left_out"] = left_out;
  return Dump(summary);
}

}  // namespace dladvisor
