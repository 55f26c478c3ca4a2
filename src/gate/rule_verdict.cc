#include "src/gate/rule_verdict.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "engine/model/finding_relation.h"
#include "src/report/sections/finding_groups.h"

namespace dladvisor {
namespace {

struct Seen {
  bool has_steps = true;
  size_t runs = 0;                   // in which it fires
  const Finding* finding = nullptr;  // of the first of them
};
using FindingsOfSide = std::map<std::pair<std::string, std::string>, Seen>;  // by rule and subject

// What makes a rule's findings one. A rule that is an error fails wherever it fires: on one rank in this run
// and on another in the next, it fires in both.
std::string SubjectOf(const Finding& finding) {
  return finding.severity == Severity::kError ? "" : SubjectJson(finding);
}

FindingsOfSide Count(std::span<const GateRun> runs) {
  FindingsOfSide side;
  for (const GateRun& run : runs) {
    std::set<std::pair<std::string, std::string>> of_run;
    for (const Finding& finding : run.findings) {
      const auto key = std::pair(finding.rule, SubjectOf(finding));
      if (!of_run.insert(key).second) continue;
      Seen& seen = side[key];
      ++seen.runs;
      if (seen.finding == nullptr) {
        seen.finding = &finding;
        seen.has_steps = run.steps > 0;
      }
    }
  }
  std::erase_if(side, [&](const auto& entry) {
    const Seen& seen = entry.second;
    return 2 * seen.runs < runs.size() + (seen.finding->severity == Severity::kError ? 0 : 1);
  });
  return side;
}

// Where the evidence, or else the message, says that it happens.
std::pair<std::string, int> SourceOf(const Finding& finding) {
  for (const auto& row : finding.evidence.rows)
    for (const Value& value : row)
      if (const auto* text = std::get_if<std::string>(&value))
        if (auto line = SourceLineIn(*text); line.second > 0) return line;
  return SourceLineIn(finding.problem);
}

RuleVerdict Describe(const Seen& seen, const std::string& subject, const Rule* rule) {
  const Finding& finding = *seen.finding;
  RuleVerdict verdict;
  verdict.saves_per_step = seen.has_steps;
  verdict.rule = finding.rule;
  verdict.title = finding.title;
  verdict.severity = finding.severity;
  verdict.subject = subject.empty() ? SubjectJson(finding) : subject;
  verdict.problem = finding.problem;
  verdict.recommendation = finding.recommendation;
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

// Findings of a rule that say the same but for numbers become the first of them.
std::vector<RuleVerdict> Group(std::vector<RuleVerdict> verdicts) {
  std::vector<RuleVerdict> grouped;
  std::vector<std::vector<std::string>> problems;
  std::map<std::tuple<std::string, RuleVerdict::Change, std::string>, size_t> index;
  for (RuleVerdict& verdict : verdicts) {
    const auto [entry, is_new] = index.emplace(
        std::tuple(verdict.rule, verdict.change, WithoutNumbers(verdict.problem)), grouped.size());
    if (is_new) {
      problems.push_back({verdict.problem});
      grouped.push_back(std::move(verdict));
      continue;
    }
    RuleVerdict& first = grouped[entry->second];
    problems[entry->second].push_back(verdict.problem);
    if (verdict.saves_high_ns.value_or(0) > first.saves_high_ns.value_or(0)) {
      first.saves_low_ns = verdict.saves_low_ns;
      first.saves_high_ns = verdict.saves_high_ns;
    }
  }
  for (size_t i = 0; i < grouped.size(); ++i)
    if (problems[i].size() > 1) grouped[i].problem = MergeTexts(problems[i]);
  return grouped;
}

bool IsBlind(std::span<const GateRun> runs, const std::string& rule) {
  return std::ranges::any_of(runs, [&](const GateRun& run) { return run.blind.contains(rule); });
}

}  // namespace

std::vector<RuleVerdict> JudgeRules(std::span<const GateRun> baseline, std::span<const GateRun> candidate,
                                    const KnowledgeBase& knowledge, const GatePolicy& policy) {
  const FindingsOfSide before = Count(baseline), after = Count(candidate);
  std::vector<RuleVerdict> verdicts;
  for (const auto& [key, seen] : after) {
    RuleVerdict verdict = Describe(seen, key.second, knowledge.Find(key.first));
    const bool is_new = !before.contains(key) && !IsBlind(baseline, key.first);
    verdict.change = is_new ? RuleVerdict::Change::kNew : RuleVerdict::Change::kStill;
    if (verdict.severity == Severity::kError)
      verdict.level = Level::kError;
    else if (is_new && verdict.severity == Severity::kWarning && !seen.finding->caused_by)
      verdict.level = policy.new_findings == Level::kOff ? Level::kExplain : policy.new_findings;
    if (verdict.level >= Level::kWarn) verdict.verdict = Verdict::kRegressed;
    verdicts.push_back(std::move(verdict));
  }
  for (const auto& [key, seen] : before) {
    if (after.contains(key) || IsBlind(candidate, key.first)) continue;
    RuleVerdict verdict = Describe(seen, key.second, knowledge.Find(key.first));
    verdict.change = RuleVerdict::Change::kGone;
    verdicts.push_back(std::move(verdict));
  }
  verdicts = Group(std::move(verdicts));
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
