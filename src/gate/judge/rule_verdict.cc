// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/rule_verdict.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "engine/model/finding_relation.h"
#include "src/gate/judge/finding_evidence.h"
#include "src/render/merged_message.h"

namespace dladvisor {
namespace {

// A finding of a rule on one subject, over the runs of a side.
struct Fired {
  size_t runs = 0;                   // in which it fires
  size_t roots = 0;                  // of those, in which no other finding causes it
  const Finding* finding = nullptr;  // the first of them, of a root where there is one
  bool has_steps = true;             // the run of that one
};
using FiredBySubject = std::map<std::string, Fired>;

// What fires on a side, by rule.
using FiredByRule = std::map<std::string, FiredBySubject>;

bool IsError(const FiredBySubject& fired) {
  return fired.begin()->second.finding->severity == Severity::kError;
}

FiredByRule Count(std::span<const GateRun> runs) {
  FiredByRule side;
  std::map<std::string, size_t> runs_of_rule;
  for (const GateRun& run : runs) {
    std::map<std::pair<std::string, std::string>, const Finding*> of_run;  // by rule and subject
    for (const Finding& finding : run.findings) {
      const Finding*& known = of_run[{finding.rule, SubjectJson(finding)}];
      if (known == nullptr || (known->caused_by && !finding.caused_by)) known = &finding;
    }
    std::set<std::string> rules;
    for (const auto& [key, finding] : of_run) {
      Fired& fired = side[key.first][key.second];
      if (fired.finding == nullptr || (fired.roots == 0 && !finding->caused_by)) {
        fired.finding = finding;
        fired.has_steps = run.steps > 0;
      }
      ++fired.runs;
      fired.roots += !finding->caused_by;
      if (rules.insert(key.first).second) ++runs_of_rule[key.first];
    }
  }
  for (auto& [rule, subjects] : side) {
    // A rule that is an error fires in both of two runs where it does so on one rank in this and on another
    // in the next.
    if (IsError(subjects) && 2 * runs_of_rule[rule] >= runs.size()) continue;
    std::erase_if(subjects, [&](const auto& entry) { return 2 * entry.second.runs <= runs.size(); });
  }
  std::erase_if(side, [](const auto& entry) { return entry.second.empty(); });
  return side;
}

// Whether a side has the finding, wherever: on another rank, GPU or step it is the same. Of a rule that is an
// error, on whatever subject.
bool Has(const FiredByRule& side, const std::string& rule, const std::string& subject) {
  const auto fired = side.find(rule);
  if (fired == side.end()) return false;
  return IsError(fired->second) || fired->second.contains(subject) ||
         std::ranges::any_of(fired->second, [&](const auto& entry) {
           return IdentityOf(rule, entry.first) == IdentityOf(rule, subject);
         });
}

bool FiresIn(std::span<const GateRun> runs, const std::string& rule) {
  return std::ranges::any_of(runs, [&](const GateRun& run) {
    return std::ranges::any_of(run.findings, [&](const Finding& finding) { return finding.rule == rule; });
  });
}

// Where it happens, by a name in the evidence or else in the problem.
std::pair<std::string, int> SourceOf(const Finding& finding) {
  for (const auto& row : finding.evidence.rows)
    for (const Value& value : row)
      if (const auto* text = std::get_if<std::string>(&value))
        if (auto line = SourceLineIn(*text); line.second > 0) return line;
  for (const PlacedValue& placed : finding.problem.values)
    if (const auto* text = std::get_if<std::string>(&placed.value.value))
      if (auto line = SourceLineIn(*text); line.second > 0) return line;
  return {};
}

RuleVerdict Describe(const Fired& fired, const std::string& subject, const Rule* rule) {
  const Finding& finding = *fired.finding;
  RuleVerdict verdict;
  verdict.saves_per_step = fired.has_steps;
  verdict.rule = finding.rule;
  verdict.title = finding.title;
  verdict.severity = finding.severity;
  verdict.subjects = {subject};
  verdict.problem = finding.problem;
  verdict.recommendation.assign(finding.recommendation.begin(), finding.recommendation.end());
  if (finding.saves) {
    verdict.saves_low_ns = finding.saves->low_ns;
    verdict.saves_high_ns = finding.saves->high_ns;
  }
  if (rule != nullptr) {
    verdict.category = rule->category;
    verdict.rule_file = rule->place.file;
    verdict.rule_line = rule->place.line;
  }
  std::tie(verdict.source_file, verdict.source_line) = SourceOf(finding);
  return verdict;
}

// For display: findings of one rule and verdict that are about the same thing, and say the same but for
// numbers, become the first of them.
std::vector<RuleVerdict> Merge(std::vector<RuleVerdict> verdicts) {
  std::vector<RuleVerdict> merged;
  std::vector<std::vector<RenderedMessage>> problems;
  using Key = std::tuple<std::string, RuleVerdict::Change, Verdict, Level, std::string>;
  std::map<Key, size_t> index;
  for (RuleVerdict& verdict : verdicts) {
    const auto [entry, is_new] = index.emplace(
        Key(IdentityOf(verdict), verdict.change, verdict.verdict, verdict.level, ShapeOf(verdict.problem)),
        merged.size());
    if (is_new) {
      problems.push_back({verdict.problem});
      merged.push_back(std::move(verdict));
      continue;
    }
    RuleVerdict& first = merged[entry->second];
    problems[entry->second].push_back(verdict.problem);
    std::ranges::move(verdict.subjects, std::back_inserter(first.subjects));
    if (verdict.saves_high_ns.value_or(0) > first.saves_high_ns.value_or(0)) {
      first.saves_low_ns = verdict.saves_low_ns;
      first.saves_high_ns = verdict.saves_high_ns;
    }
  }
  for (size_t i = 0; i < merged.size(); ++i)
    if (problems[i].size() > 1) {
      std::vector<const RenderedMessage*> messages;
      for (const RenderedMessage& problem : problems[i]) messages.push_back(&problem);
      merged[i].problem = Merged(messages);
    }
  return merged;
}

bool IsUndecided(std::span<const GateRun> runs, const std::string& rule, const std::string& subject) {
  return std::ranges::any_of(runs, [&](const GateRun& run) { return run.IsUndecided(rule, subject); });
}

// Rules that are errors, fire in no run, and of which a run does not tell.
std::vector<RuleVerdict> NotEvaluated(std::span<const GateRun> candidate, const FiredByRule& fired,
                                      const KnowledgeBase& knowledge, const GatePolicy& policy) {
  std::vector<RuleVerdict> verdicts;
  for (const Rule& rule : knowledge.rules()) {
    if (rule.severity != Severity::kError || fired.contains(rule.id) ||
        policy.WaiverOfRule(rule.id) != nullptr)
      continue;
    RuleVerdict verdict;
    verdict.subjects.clear();
    for (const GateRun& run : candidate)
      for (auto entry = run.undecided.lower_bound({rule.id, ""});
           entry != run.undecided.end() && entry->first.first == rule.id; ++entry) {
        const std::string subject = entry->first.second.empty() ? "{}" : entry->first.second;
        if (std::ranges::find(verdict.subjects, subject) != verdict.subjects.end()) continue;
        if (verdict.subjects.empty())
          verdict.problem =
              fmt::format("This rule is an error and could not be evaluated: {}.", entry->second);
        verdict.subjects.push_back(subject);
      }
    if (verdict.subjects.empty()) continue;
    verdict.rule = rule.id;
    verdict.title = rule.title;
    verdict.category = rule.category;
    verdict.severity = rule.severity;
    verdict.rule_file = rule.place.file;
    verdict.rule_line = rule.place.line;
    verdict.change = RuleVerdict::Change::kNotEvaluated;
    verdict.verdict = policy.fail_on_unknown ? Verdict::kRegressed : Verdict::kInconclusive;
    verdict.level = policy.fail_on_unknown ? Level::kError : Level::kWarn;
    verdict.recommendation = {fmt::format(
        "`dladvisor explain {} PROFILE` says what it needs; until then nothing is said about it.", rule.id)};
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace

std::vector<RuleVerdict> JudgeRules(std::span<const GateRun> baseline, std::span<const GateRun> candidate,
                                    const KnowledgeBase& knowledge, const GatePolicy& policy,
                                    const std::set<std::string>& longer) {
  const FindingEvidence evidence(baseline, candidate, longer);
  const FiredByRule before = Count(baseline), after = Count(candidate);
  std::vector<RuleVerdict> verdicts;
  for (const auto& [rule, subjects] : after)
    for (const auto& [subject, fired] : subjects) {
      RuleVerdict verdict = Describe(fired, subject, knowledge.Find(rule));
      const bool is_absent = !Has(before, rule, subject);
      const bool is_new = is_absent && !IsUndecided(baseline, rule, subject);
      const bool is_new_error = is_new && (!FiresIn(baseline, rule) || evidence.IsSure(*fired.finding));
      const bool is_root = 2 * fired.roots > candidate.size();
      verdict.change = is_new      ? RuleVerdict::Change::kNew
                       : is_absent ? RuleVerdict::Change::kVisible
                                   : RuleVerdict::Change::kStill;
      if (policy.WaiverOfRule(rule) != nullptr)
        verdict.level = Level::kExplain;
      else if (verdict.severity == Severity::kError)
        verdict.level = policy.fails_on_new_errors_alone && !is_new_error ? Level::kWarn : Level::kError;
      else if (is_new && verdict.severity == Severity::kWarning && is_root)
        verdict.level = policy.new_findings == Level::kOff ? Level::kExplain : policy.new_findings;
      if (verdict.level >= Level::kWarn) verdict.verdict = Verdict::kRegressed;
      if (is_new && verdict.severity == Severity::kError && verdict.level == Level::kWarn)
        verdict.doubt = evidence.Doubt(*fired.finding);
      if (is_new && verdict.severity != Severity::kError && verdict.level >= Level::kWarn &&
          !policy.fail_on_inconclusive && !evidence.IsSure(*fired.finding)) {
        verdict.verdict = Verdict::kInconclusive;
        if (verdict.level == Level::kError) verdict.doubt = evidence.Doubt(*fired.finding);
        verdict.level = Level::kWarn;
      }
      verdicts.push_back(std::move(verdict));
    }
  for (const auto& [rule, subjects] : before)
    for (const auto& [subject, fired] : subjects) {
      if (Has(after, rule, subject) || IsUndecided(candidate, rule, subject)) continue;
      RuleVerdict verdict = Describe(fired, subject, knowledge.Find(rule));
      verdict.change = RuleVerdict::Change::kGone;
      verdicts.push_back(std::move(verdict));
    }
  for (RuleVerdict& verdict : NotEvaluated(candidate, after, knowledge, policy))
    verdicts.push_back(std::move(verdict));
  verdicts = Merge(std::move(verdicts));
  std::ranges::stable_sort(verdicts, [](const RuleVerdict& a, const RuleVerdict& b) {
    const auto order = [](const RuleVerdict& v) {
      return std::tuple(v.verdict != Verdict::kRegressed, v.change, v.severity, -v.saves_high_ns.value_or(0));
    };
    return order(a) < order(b);
  });
  return verdicts;
}

std::pair<std::string, int> SourceLineIn(const std::string& text) {
  static const RE2 pattern(R"(([\w./-]+\.(?:py|cc|cpp|cxx|cu|cuh|h|hpp))(?:\(|:|, line )(\d{1,7}))");
  std::string file;
  int line = 0;
  if (!RE2::PartialMatch(text, pattern, &file, &line)) return {"", 0};
  return {file, line};
}

}  // namespace dladvisor
