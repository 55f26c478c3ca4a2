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
#include "src/report/sections/do_first.h"
#include "src/report/sections/finding_groups.h"

namespace dladvisor {
namespace {

constexpr size_t kMostUndecided = 40;

// How much is told of a finding.
struct Detail {
  size_t text, ids, evidence_rows, facts, advice;
};
constexpr Detail kInFull = {600, 8, 3, 8, SIZE_MAX};
// Of the first finding, which is always told, where it has no room in full. The last one fits whatever it is.
constexpr Detail kLess[] = {{300, 8, 1, 8, 3}, {120, 1, 0, 4, 1}, {60, 1, 0, 0, 1}};

// Bytes that a text has as JSON: a control character has six.
size_t BytesOf(const std::string& text) {
  return OrderedJson(text).dump(-1, ' ', false, OrderedJson::error_handler_t::replace).size();
}

// As much of a text as is worth its room; names of kernels can be thousands of letters long.
std::string Short(const std::string& text, size_t most = kInFull.text) {
  size_t end = std::min(text.size(), most);
  for (;;) {
    if (end < text.size())
      while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    std::string part = ValidUtf8(text.substr(0, end)) + (end < text.size() ? "..." : "");
    if (end == 0 || BytesOf(part) <= 2 * most) return part;
    end /= 2;
  }
}

OrderedJson ShortValue(const Value& value, size_t most = kInFull.text) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? OrderedJson(Short(*text, most)) : ToJson(value);
}

// The first rows as objects.
OrderedJson EvidenceJson(const ResultSet& evidence, const Detail& detail) {
  OrderedJson rows = OrderedJson::array();
  for (size_t i = 0; i < std::min(evidence.rows.size(), detail.evidence_rows); ++i) {
    OrderedJson row = OrderedJson::object();
    for (size_t c = 0; c < evidence.columns.size(); ++c)
      row[ValidUtf8(evidence.columns[c].name)] = ShortValue(evidence.rows[i][c], detail.text);
    rows.push_back(std::move(row));
  }
  return rows;
}

// What the conditions compare, by name.
OrderedJson Facts(const Finding& finding, const Detail& detail) {
  OrderedJson facts = OrderedJson::object();
  for (const ConditionTrace& condition : finding.why)
    for (const NamedValue& fact : condition.facts)
      if (facts.size() < detail.facts) facts[ValidUtf8(fact.name)] = ShortValue(fact.value, detail.text);
  return facts;
}

OrderedJson FindingOf(const ReportModel& model, const FindingGroup& group, const Detail& detail = kInFull) {
  const Finding& finding = model.advice->findings[group.findings[0]];
  OrderedJson ids = OrderedJson::array();
  for (size_t i = 0; i < std::min(group.findings.size(), detail.ids); ++i)
    ids.push_back(ValidUtf8(FindingId(model.advice->findings[group.findings[i]])));
  OrderedJson advice = OrderedJson::array();
  for (size_t i = 0; i < std::min(group.recommendation.size(), detail.advice); ++i)
    advice.push_back(Short(group.recommendation[i], detail.text));
  return {{"ids", std::move(ids)},
          {"count", group.findings.size()},
          {"rule", ValidUtf8(finding.rule)},
          {"depth", group.depth},
          {"severity", std::string(SeverityName(finding.severity))},
          {"confidence", std::string(ConfidenceName(finding.confidence))},
          {"subject", Short(group.subject, detail.text)},
          {"problem", Short(group.problem, detail.text)},
          {"recommendation", std::move(advice)},
          {"saves", ToJson(finding.saves)},
          {"facts", Facts(finding, detail)},
          {"evidence", EvidenceJson(finding.evidence, detail)}};
}

OrderedJson FigureOf(const Figure& figure) {
  constexpr size_t kMostOfFigure = 160;
  OrderedJson json = {{"id", figure.id},
                      {"label", figure.label},
                      {"value", ShortValue(figure.value, kMostOfFigure)},
                      {"unit", std::string(UnitName(figure.unit))}};
  if (IsNull(figure.value)) json["unknown_because"] = Short(figure.unknown_because, kMostOfFigure);
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
  size_t begin = std::min(skip, groups.size());
  if (begin < groups.size() && !add("findings", FindingOf(model, groups[begin]), for_findings))
    for (const Detail& detail : kLess)
      if (add("findings", FindingOf(model, groups[begin], detail), for_findings)) break;
  if (!summary["findings"].empty()) ++begin;
  for (size_t i = begin; i < groups.size(); ++i)
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
