// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/gate_json.h"

#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "src/gate/render/json_cells.h"
#include "src/gate/render/wording.h"

namespace dladvisor {
namespace {

using Json = nlohmann::ordered_json;
using dladvisor::JsonOf;  // beside those below

Json JsonOf(const Side& side) {
  return {{"runs", JsonOf(side.runs)}, {"ranks", side.ranks}, {"steps", side.steps}};
}

Json JsonOf(const Difference& difference) {
  return {{"trait", ValidUtf8(difference.trait)},
          {"title", ValidUtf8(difference.title)},
          {"baseline", ValidUtf8(difference.baseline)},
          {"candidate", ValidUtf8(difference.candidate)},
          {"blocks", difference.blocks},
          {"note", ValidUtf8(difference.note)}};
}

Json JsonOf(const MetricVerdict& metric) {
  return {{"metric", ValidUtf8(metric.metric)},
          {"title", ValidUtf8(metric.title)},
          {"unit", std::string(UnitName(metric.unit))},
          {"lower_is_better", metric.lower_is_better},
          {"verdict", std::string(VerdictName(metric.verdict))},
          {"level", std::string(LevelName(metric.level))},
          {"not_gated", ValidUtf8(metric.not_gated)},
          {"baseline", JsonOf(metric.baseline)},
          {"candidate", JsonOf(metric.candidate)},
          {"change", JsonOf(metric.change)},
          {"low", JsonOf(metric.low)},
          {"high", JsonOf(metric.high)},
          {"fails_from", JsonOf(metric.fails_from)},
          {"detectable", JsonOf(metric.detectable)},
          {"max", JsonOf(metric.max)},
          {"min", JsonOf(metric.min)},
          {"noise", ValidUtf8(metric.noise)},
          {"why", ValidUtf8(metric.why)}};
}

Json SubjectOf(const std::string& text) {
  Json subject = Json::parse(ValidUtf8(text), nullptr, false);
  return subject.is_discarded() ? Json(ValidUtf8(text)) : subject;
}

Json JsonOf(const RuleVerdict& rule) {
  Json subjects = Json::array();
  for (const std::string& subject : rule.subjects) subjects.push_back(SubjectOf(subject));
  return {{"rule", ValidUtf8(rule.rule)},
          {"title", ValidUtf8(rule.title)},
          {"category", ValidUtf8(rule.category)},
          {"severity", std::string(SeverityName(rule.severity))},
          {"subject", subjects.front()},
          {"subjects", subjects},
          {"change", std::string(ChangeName(rule.change))},
          {"verdict", std::string(VerdictName(rule.verdict))},
          {"level", std::string(LevelName(rule.level))},
          {"problem", ValidUtf8(rule.problem.text)},
          {"recommendation", JsonOf(rule.recommendation)},
          {"saves_low_ns", JsonOf(rule.saves_low_ns)},
          {"saves_high_ns", JsonOf(rule.saves_high_ns)},
          {"saves_per_step", rule.saves_per_step},
          {"rule_file", ValidUtf8(rule.rule_file)},
          {"rule_line", rule.rule_line},
          {"source_file", ValidUtf8(rule.source_file)},
          {"source_line", rule.source_line}};
}

Json JsonOf(const Trend& trend) {
  Json points = Json::array(), changes = Json::array();
  for (const Trend::Point& point : trend.points)
    points.push_back({{"label", ValidUtf8(point.label)}, {"value", JsonOf(point.value)}});
  for (const Trend::Change& change : trend.changes)
    changes.push_back({{"at", change.at},
                       {"before", JsonOf(change.before)},
                       {"after", JsonOf(change.after)},
                       {"appeared", JsonOf(change.appeared)}});
  return {{"metric", ValidUtf8(trend.metric)},
          {"title", ValidUtf8(trend.title)},
          {"unit", std::string(UnitName(trend.unit))},
          {"level", std::string(LevelName(trend.level))},
          {"verdict", std::string(VerdictName(trend.verdict))},
          {"points", std::move(points)},
          {"changes", std::move(changes)},
          {"why", ValidUtf8(trend.why)}};
}

template <class T>
Json ListOf(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(JsonOf(item));
  return list;
}

}  // namespace

std::string RenderGateJson(const GateResult& result) {
  const Json gate = {{"schema_version", 1},
                     {"generator", ValidUtf8(result.generator)},
                     {"verdict", std::string(VerdictName(result.verdict))},
                     {"exit_status", result.exit_status},
                     {"headline", ValidUtf8(result.headline)},
                     {"next_step", ValidUtf8(result.next_step)},
                     {"baseline", JsonOf(result.baseline)},
                     {"candidate", JsonOf(result.candidate)},
                     {"differences", ListOf(result.differences)},
                     {"metrics", ListOf(result.metrics)},
                     {"explanation", ListOf(result.explanation)},
                     {"changes", JsonOf(result.changes)},
                     {"rules", ListOf(result.rules)},
                     {"trends", ListOf(result.trends)},
                     {"notes", JsonOf(result.notes)}};
  return gate.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dladvisor
