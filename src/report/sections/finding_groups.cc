// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/finding_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "src/render/merged_message.h"
#include "src/report/sections/alike_findings.h"
#include "src/report/sections/day_saving.h"
#include "src/report/sections/do_first.h"
#include "src/report/sections/findings_section.h"

namespace dladvisor {
namespace {

// "GPU 1", "rank 0", "op aten::mm".
std::string KeyText(const std::string& name, const std::string& value) {
  std::string words = name == "device" ? "GPU" : name;
  std::ranges::replace(words, '_', ' ');
  return fmt::format("{} {}", words, value);
}

// Whether the message says it, by that name or another.
bool Mentions(const RenderedMessage& message, const NamedValue& key) {
  return std::ranges::any_of(message.values, [&](const PlacedValue& placed) {
    return placed.value.name == key.name || (!AsNumber(key.value) && placed.value.value == key.value);
  });
}

// What the members' problems do not say; a rank, GPU or profile that is the only one needs no saying.
std::string SubjectOf(const ReportModel& model, const std::vector<const Finding*>& members) {
  std::string text;
  const std::vector<NamedValue>& keys = members[0]->subject;
  const ReportTable* profiles = FindTable(model, "profiles");
  const bool one_profile = profiles != nullptr && profiles->total_rows == 1;
  const ReportTable* summaries = FindTable(model, "summary_tables");
  const bool one_summary = summaries != nullptr && summaries->total_rows == 1;
  const double ranks = FigureNumber(model, "ranks").value_or(-1);
  for (size_t k = 0; k < keys.size(); ++k) {
    const bool only = (keys[k].name == "rank" && (ranks == 1 || (ranks == 0 && one_profile))) ||
                      (keys[k].name == "device" && FigureNumber(model, "gpus") == 1.0) ||
                      (keys[k].name == "profile" && one_profile) ||
                      (keys[k].name == "summary" && one_summary);
    if (only || Mentions(members[0]->problem, keys[k])) continue;
    std::set<int64_t> numbers;
    for (const Finding* member : members)
      if (const auto* number = std::get_if<int64_t>(&member->subject[k].value)) numbers.insert(*number);
    if (!text.empty()) text += ", ";
    text += numbers.size() > 1 ? KeyText(keys[k].name, "")
                               : KeyText(keys[k].name, FormatValue(keys[k].value, keys[k].unit));
    if (numbers.size() > 1) text.replace(text.size() - 1, 1, "s " + Listed(numbers));
  }
  return text;
}

FindingGroup MakeGroup(const ReportModel& model, const std::vector<size_t>& indices, size_t depth) {
  std::vector<const Finding*> members;
  for (const size_t index : indices) members.push_back(&model.advice->findings[index]);
  FindingGroup group{indices, depth, "", {}, SubjectOf(model, members), "", ""};
  std::vector<const RenderedMessage*> messages;
  for (const Finding* member : members) messages.push_back(&member->problem);
  group.problem = Merged(messages);
  for (size_t i = 0; i < members[0]->recommendation.size(); ++i) {
    messages.clear();
    for (const Finding* member : members) messages.push_back(&member->recommendation[i]);
    group.recommendation.push_back(Merged(messages).text);
  }
  const Finding most = SavingMostOf(members);
  group.saving = SavingBesideOthersText(model, most);
  if (most.saves) group.per_day = DayText(model, *most.saves);
  return group;
}

// How to record, which changes nothing of the program.
bool IsNoteOnCapture(const Advice& advice, const Finding& finding) {
  const auto rule = std::ranges::find(advice.rules, finding.rule, &RuleSummary::id);
  return finding.severity == Severity::kInfo && rule != advice.rules.end() && rule->category == "capture";
}

// What the headline speaks of, then by the middle of what the finding saves, or what it explains; what saves
// nothing last, in order of severity, notes on the capture behind those on the program.
std::vector<size_t> RootsByImpact(const ReportModel& model) {
  const Advice& advice = *model.advice;
  const std::function<double(size_t)> expected = [&](size_t index) {
    const Finding& finding = advice.findings[index];
    if (const auto saved = finding.saves ? finding.saves->ExpectedNs() : std::nullopt) return *saved;
    double most = 0;
    for (const size_t below : finding.causes) most = std::max(most, expected(below));
    return most;
  };
  const auto first = DoFirst(model);
  std::vector<size_t> roots = advice.Roots();
  std::ranges::stable_sort(roots, {}, [&](size_t root) {
    return std::tuple(root != first, -expected(root), IsNoteOnCapture(advice, advice.findings[root]));
  });
  return roots;
}

}  // namespace

std::vector<FindingGroup> GroupFindings(const ReportModel& model) {
  const Advice& advice = *model.advice;
  std::vector<FindingGroup> groups;
  std::vector<bool> seen(advice.findings.size());
  const std::function<void(const std::vector<size_t>&, size_t)> visit = [&](const auto& siblings,
                                                                            size_t depth) {
    std::vector<std::pair<std::string, std::vector<size_t>>> alike;  // in order of their first member
    for (const size_t index : siblings) {
      if (index >= seen.size() || seen[index]) continue;
      seen[index] = true;
      const std::string key = AlikeKey(advice, index);
      auto found = std::ranges::find(alike, key, [](const auto& entry) { return entry.first; });
      if (found == alike.end()) found = alike.insert(alike.end(), {key, {}});
      found->second.push_back(index);
    }
    for (const auto& [key, members] : alike) {
      groups.push_back(MakeGroup(model, members, depth));
      std::vector<size_t> below;
      for (const size_t index : members)
        below.insert(below.end(), advice.findings[index].causes.begin(), advice.findings[index].causes.end());
      visit(below, depth + 1);
    }
  };
  visit(RootsByImpact(model), 0);
  for (size_t i = 0; i < advice.findings.size(); ++i)
    if (advice.findings[i].outcome == Outcome::kFired) visit({i}, 0);
  return groups;
}

}  // namespace dladvisor
