// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/render/comparison_json.h"

#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "src/gate/render/json_cells.h"
#include "src/gate/render/wording.h"

namespace dladvisor {
namespace {

using Json = nlohmann::ordered_json;
using dladvisor::JsonOf;  // beside those below

Json JsonOf(const ComparedSide& side) {
  return {{"name", ValidUtf8(side.name)},
          {"ranks", side.ranks},
          {"steps", side.steps},
          {"unit_ns", JsonOf(side.unit_ns)},
          {"step_stddev_ns", JsonOf(side.stddev_ns)}};
}

Json JsonOf(const std::optional<WorkAmount>& amount, const std::string& name, size_t others) {
  if (!amount) return {};
  return {{"name", ValidUtf8(name)},
          {"other_names", others},
          {"calls", amount->calls},
          {"ns", amount->ns},
          {"attained_share", JsonOf(amount->attained_share)}};
}

Json JsonOf(const std::vector<WorkPair>& pairs) {
  Json items = Json::array();
  for (const WorkPair& pair : pairs)
    items.push_back(
        {{"kind", pair.kind.empty() ? Json() : Json(ValidUtf8(pair.kind))},
         {"matched_by",
          pair.matched == MatchedBy::kNothing ? Json() : Json(std::string(MatchedByName(pair.matched)))},
         {"before", JsonOf(pair.before, pair.before_name, pair.before_others)},
         {"after", JsonOf(pair.after, pair.after_name, pair.after_others)}});
  return items;
}

Json JsonOf(const FindingChange& change) {
  const RuleVerdict& finding = change.finding;
  Json subjects = Json::array();
  for (const std::string& subject : finding.subjects)
    subjects.push_back(Json::parse(ValidUtf8(subject), nullptr, false));
  return {{"rule", ValidUtf8(finding.rule)},
          {"change", std::string(ChangeName(finding.change))},
          {"title", ValidUtf8(finding.title)},
          {"severity", std::string(SeverityName(finding.severity))},
          {"subjects", subjects},
          {"problem", ValidUtf8(finding.problem.text)},
          {"recommendation", JsonOf(finding.recommendation)},
          {"saves_low_ns", JsonOf(finding.saves_low_ns)},
          {"saves_high_ns", JsonOf(finding.saves_high_ns)},
          {"saved_before_high_ns", JsonOf(change.saved_before_ns)},
          {"saves_per_step", finding.saves_per_step}};
}

}  // namespace

std::string RenderComparisonJson(const RunsCompared& compared, const std::string& generator) {
  Json ledger = Json::array(), findings = Json::array(), differences = Json::array();
  for (const BucketChange& bucket : compared.ledger)
    ledger.push_back({{"bucket", ValidUtf8(bucket.bucket)},
                      {"before_ns", bucket.before_ns},
                      {"after_ns", bucket.after_ns}});
  Json figures = Json::array();
  for (const FigureChange& figure : compared.figures)
    figures.push_back({{"title", ValidUtf8(figure.title)},
                       {"unit", std::string(UnitName(figure.unit))},
                       {"before", JsonOf(figure.before)},
                       {"after", JsonOf(figure.after)}});
  for (const FindingChange& change : compared.findings) findings.push_back(JsonOf(change));
  for (const Difference& difference : compared.differences)
    differences.push_back({{"trait", ValidUtf8(difference.trait)},
                           {"title", ValidUtf8(difference.title)},
                           {"before", ValidUtf8(difference.baseline)},
                           {"after", ValidUtf8(difference.candidate)}});
  const Json root = {{"schema_version", 1},
                     {"generator", ValidUtf8(generator)},
                     {"headline", ValidUtf8(compared.headline)},
                     {"reasons", JsonOf(compared.reasons)},
                     {"notes", JsonOf(compared.notes)},
                     {"unit", std::string(UnitNameOf(compared.unit))},
                     {"change", JsonOf(compared.change)},
                     {"common_share", JsonOf(compared.common_share)},
                     {"before", JsonOf(compared.before)},
                     {"after", JsonOf(compared.after)},
                     {"ledger", ledger},
                     {"kinds", JsonOf(compared.kinds)},
                     {"operators", JsonOf(compared.operators)},
                     {"shapes", JsonOf(compared.shapes)},
                     {"kernels", JsonOf(compared.kernels)},
                     {"timers", JsonOf(compared.timers)},
                     {"figures", figures},
                     {"findings", findings},
                     {"differences", differences}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dladvisor
