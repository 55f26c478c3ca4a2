// SPDX-License-Identifier: Apache-2.0
#include "src/cli/explanation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/inference/explanation.h"
#include "engine/store/lookup_table.h"
#include "src/cli/table.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxSubjects = 20;
constexpr size_t kMaxCell = 48;

// Of a param that is a table its numbers have the unit.
std::string ShownValue(const Value& value, Unit unit) {
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr && unit != Unit::kText && unit != Unit::kNone)
    if (const auto table = LookupTable::Parse(*text)) return table->Formatted(unit);
  return FormatValue(value, unit);
}

std::string Shown(const NamedValue& value) {
  return fmt::format("{} {}", value.name, ShownValue(value.value, value.unit));
}

std::string SubjectOf(const Finding& finding) {
  std::vector<std::string> keys;
  for (const NamedValue& key : finding.subject) keys.push_back(Shown(key));
  return keys.empty() ? "the run" : ValidUtf8(fmt::format("{}", fmt::join(keys, ", ")));
}

// Whether the finding's subject has every COLUMN=VALUE.
bool IsAsked(const Finding& finding, const std::vector<std::string>& subject) {
  return std::ranges::all_of(subject, [&](const std::string& wanted) {
    const size_t equals = wanted.find('=');
    const auto key = std::ranges::find(finding.subject, wanted.substr(0, equals), &NamedValue::name);
    if (key == finding.subject.end()) return false;
    const std::string value = wanted.substr(equals + 1);
    const auto number = AsNumber(key->value);
    char* end = nullptr;
    return number ? std::strtod(value.c_str(), &end) == *number && !value.empty() && *end == '\0'
                  : FormatValue(key->value, Unit::kText) == value;
  });
}

// SQL on one line.
std::string OneLineSql(const std::string& sql) {
  std::string line;
  for (const char c : sql)
    if (c != '\n' && c != ' ')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

void WriteConditions(std::string& out, const Finding& finding) {
  size_t width = 0;
  for (const ConditionTrace& condition : finding.why)
    width = std::max(width, Columns(OneLineSql(condition.sql)));
  width = std::min<size_t>(width, 60);
  for (const ConditionTrace& condition : finding.why) {
    const char* mark = !condition.holds ? "?" : *condition.holds ? "✓" : "✗";
    std::vector<std::string> distances, facts;
    for (const ComparedValues& compared : condition.compared) distances.push_back(ComparisonText(compared));
    if (distances.empty()) distances.push_back(TruthText(condition.holds));
    out += fmt::format("  {} {:<{}}  {}\n", mark, OneLineSql(condition.sql), width,
                       ValidUtf8(fmt::format("{}", fmt::join(distances, "; "))));
    for (const NamedValue& fact : condition.facts) facts.push_back(Shown(fact));
    if (!facts.empty())
      out += fmt::format("      {}\n", ValidUtf8(fmt::format("{}", fmt::join(facts, ", "))));
  }
}

void WriteSaving(std::string& out, const Finding& finding) {
  if (!finding.saves || !finding.saves->high_ns) return;
  const auto time = [](double ns) { return FormatValue(ns, Unit::kNanoseconds); };
  const SavingClaim& saves = *finding.saves;
  std::string text = fmt::format("  saves {}{} from {}",
                                 saves.low_ns.value_or(0) > 0 ? time(*saves.low_ns) + " – " : "up to ",
                                 time(*saves.high_ns), saves.bucket);
  if (saves.claimed_ns && time(*saves.claimed_ns) != time(*saves.high_ns))
    text += fmt::format(" (the rule claims {}; the rest of it is not there, or another finding's)",
                        time(*saves.claimed_ns));
  out += fmt::format("{}\n", text);
}

void WriteFinding(std::string& out, const Finding& finding, const Rule& rule, const Advice& advice) {
  out += fmt::format("\n{}: {}{}\n", SubjectOf(finding), OutcomeName(finding.outcome),
                     finding.suppressed_by.empty() ? "" : " by " + finding.suppressed_by);
  WriteConditions(out, finding);
  for (const std::string& lack : finding.lacks) out += fmt::format("  missing: {}\n", ValidUtf8(lack));
  if (!finding.capture.empty())
    out += fmt::format("  profile again with: {}\n", fmt::join(finding.capture, " "));
  for (const Let& let : rule.lets) {
    const auto value = std::ranges::find(finding.lets, let.name, &NamedValue::name);
    if (value != finding.lets.end())
      out += fmt::format("  {} = {} = {}\n", let.name, OneLineSql(let.sql),
                         ValidUtf8(FormatValue(value->value, value->unit)));
  }
  if (!finding.problem.empty()) out += fmt::format("  {}\n", ValidUtf8(finding.problem.text));
  for (const std::string& text : finding.recommendation) out += fmt::format("  → {}\n", ValidUtf8(text));
  if (!finding.code.empty()) {
    std::istringstream lines(ValidUtf8(finding.code));
    for (std::string line; std::getline(lines, line);) out += fmt::format("      {}\n", line);
  }
  WriteSaving(out, finding);
  if (finding.caused_by)
    out += fmt::format("  explained by {} ({})\n", advice.findings[*finding.caused_by].rule,
                       SubjectOf(advice.findings[*finding.caused_by]));
  for (const size_t symptom : finding.causes)
    out += fmt::format("  explains {} ({})\n", advice.findings[symptom].rule,
                       SubjectOf(advice.findings[symptom]));
  if (!finding.error.empty()) out += fmt::format("  {}\n", ValidUtf8(finding.error));
  if (!finding.evidence_sql.empty()) out += fmt::format("  Evidence: {}\n", ValidUtf8(finding.evidence_sql));
  if (!finding.evidence.rows.empty()) out += TableText(finding.evidence, "    ", kMaxCell);
}

void WriteThresholds(std::string& out, const Rule& rule) {
  if (rule.params.empty()) return;
  out += fmt::format("\nThresholds\n");
  for (const Param& param : rule.params)
    out += fmt::format("  {} = {} ({}). {}\n", param.name, ShownValue(param.value, param.unit),
                       param.set_by.empty() ? "default" : "set in " + param.set_by, param.doc);
}

// What fired first, then what nearly did: an unknown subject before a clear one, and of the clear ones that
// with the most conditions true.
std::vector<const Finding*> InOrder(const Advice& advice, const std::string& rule,
                                    const std::vector<std::string>& subject) {
  std::vector<const Finding*> findings;
  for (const Finding& finding : advice.findings)
    if (finding.rule == rule && IsAsked(finding, subject)) findings.push_back(&finding);
  const auto rank = [](const Finding* finding) {
    static constexpr std::array kOrder = {Outcome::kFired, Outcome::kSuppressed, Outcome::kFailed,
                                          Outcome::kUnknown, Outcome::kClear};
    const auto failing =
        std::ranges::count_if(finding->why, [](const ConditionTrace& c) { return c.holds != true; });
    return std::pair(std::ranges::find(kOrder, finding->outcome) - kOrder.begin(), failing);
  };
  std::ranges::stable_sort(findings, {}, rank);
  return findings;
}

}  // namespace

void CheckSubject(const Rule& rule, const std::vector<std::string>& subject) {
  for (const std::string& wanted : subject) {
    const size_t equals = wanted.find('=');
    const std::string column = wanted.substr(0, equals);
    if (equals == std::string::npos || std::ranges::find(rule.subject_key, column) == rule.subject_key.end())
      throw Error("--subject " + wanted,
                  equals == std::string::npos
                      ? "is not of the form COLUMN=VALUE"
                      : "names no key of " + rule.id + DidYouMean(column, rule.subject_key),
                  rule.subject_key.empty() ? rule.id + " judges one subject, which has no key."
                                           : fmt::format("Its keys: {}.", fmt::join(rule.subject_key, ", ")));
  }
}

std::string ExplanationText(const Rule& rule, const Advice& advice, const std::vector<std::string>& subject) {
  const std::vector<const Finding*> findings = InOrder(advice, rule.id, subject);
  std::string out;
  out += fmt::format("{}: {}\n{}:{}, {}{}, confidence {}\n", rule.id, rule.title, rule.place.file,
                     rule.place.line, SeverityName(rule.severity),
                     rule.set_by.empty() ? "" : " (set in " + rule.set_by + ")",
                     ConfidenceName(rule.confidence));
  if (findings.empty())
    out += fmt::format("\n{}\n", subject.empty()
                                     ? std::ranges::find(advice.rules, rule.id, &RuleSummary::id)->note
                                     : fmt::format("No subject has {}.", fmt::join(subject, ", ")));
  for (size_t i = 0; i < std::min(findings.size(), kMaxSubjects); ++i)
    WriteFinding(out, *findings[i], rule, advice);
  if (findings.size() > kMaxSubjects)
    out += fmt::format("\n... and {} more subjects: choose with --subject COLUMN=VALUE\n",
                       findings.size() - kMaxSubjects);
  WriteThresholds(out, rule);
  if (!rule.references.empty())
    out += fmt::format("\nReferences\n  {}\n", fmt::join(rule.references, "\n  "));
  return out;
}

}  // namespace dladvisor
