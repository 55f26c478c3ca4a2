// SPDX-License-Identifier: Apache-2.0
#include "engine/inference/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "engine/model/finding_relation.h"
#include "engine/model/savings.h"
#include "engine/rules/derived_relation.h"
#include "engine/rules/evaluation_order.h"

namespace dladvisor {
namespace {

// A cause that claims less than half of what the symptom does may be one of several, but does not explain it.
bool MayExplain(const Finding& cause, const Finding& symptom) {
  constexpr double kLeast = 0.5;
  if (!cause.saves || !cause.saves->high_ns || !symptom.saves || !symptom.saves->high_ns) return true;
  return *cause.saves->high_ns >= kLeast * *symptom.saves->high_ns;
}

// Nests fired findings under the fired findings that cause them; of several causes the one that saves most,
// of equal ones the first.
void Nest(Conclusions& conclusions, const KnowledgeBase& knowledge) {
  std::vector<Finding>& findings = conclusions.findings;
  const auto high = [&](size_t i) { return findings[i].saves ? findings[i].saves->high_ns.value_or(0) : 0; };
  const auto better = [&](size_t a, size_t b) { return high(a) != high(b) ? high(a) > high(b) : a < b; };
  for (const Rule& rule : knowledge.rules()) {
    const auto causes = conclusions.fired.find(rule.id);
    if (causes == conclusions.fired.end()) continue;
    std::unordered_map<const std::vector<size_t>*, size_t> best_of;  // of the causes that match alike
    for (const RuleReference& caused : rule.causes)
      for (const size_t symptom : conclusions.FiredBy(caused.id)) {
        const std::vector<size_t>& matching = causes->second.Matching(findings[symptom].subject);
        if (matching.empty()) continue;
        const auto [best, is_new] = best_of.try_emplace(&matching);
        if (is_new) best->second = *std::ranges::min_element(matching, better);
        if (!MayExplain(findings[best->second], findings[symptom])) continue;
        auto& cause = findings[symptom].caused_by;
        if (!cause || better(best->second, *cause)) cause = best->second;
      }
  }
  for (size_t i = 0; i < findings.size(); ++i)
    if (findings[i].caused_by) findings[*findings[i].caused_by].causes.push_back(i);
}

RuleSummary Summarize(const Rule& rule, const Evaluation& evaluation) {
  RuleSummary summary;
  summary.id = rule.id;
  summary.title = rule.title;
  summary.category = rule.category;
  summary.severity = rule.severity;
  summary.subjects = evaluation.subjects;
  for (const Finding& finding : evaluation.findings) {
    summary.fired += finding.outcome == Outcome::kFired;
    summary.unknown += finding.outcome == Outcome::kUnknown;
    summary.suppressed += finding.outcome == Outcome::kSuppressed;
    summary.failed += finding.outcome == Outcome::kFailed;
  }
  summary.clear = summary.subjects - summary.fired - summary.unknown - summary.suppressed - summary.failed;
  if (summary.subjects == 0)
    summary.note = rule.subject_relation.empty() ? "nothing to judge" : "no row in " + rule.subject_relation;
  return summary;
}

// Of a rule that is not evaluated, why not.
Evaluation NotEvaluated(const Rule& rule, Outcome outcome, const std::string& error) {
  Finding finding;
  finding.rule = rule.id;
  finding.title = rule.title;
  finding.severity = rule.severity;
  finding.confidence = rule.confidence;
  finding.references = rule.references;
  finding.outcome = outcome;
  finding.error = error;
  return {{std::move(finding)}, 1};
}

Wording WordingOf(const Ledger& ledger, const Database& db) {
  Wording wording;
  if (!ledger.periods.empty())
    if (const ResultSet rows = db.Query(ledger.periods); !rows.rows.empty())
      wording.periods = AsNumber(rows.rows[0][0]);
  if (!ledger.single.empty())
    for (const auto& row : db.Query(ledger.single).rows)
      wording.single[FormatValue(row[0], Unit::kText)] = {FormatValue(row[1], Unit::kText),
                                                          AsNumber(row[2]).value_or(0) != 0};
  return wording;
}

class Inference {
 public:
  Inference(const KnowledgeBase& knowledge, Database& db, const EvaluationOptions& options)
      : knowledge_(knowledge), db_(db), options_(options) {
    for (const auto& [name, who] : options.absent_relations) absent_.emplace(name, name);
    if (const auto& ledger = knowledge.ledger()) options_.wording = WordingOf(*ledger, db);
  }

  Advice Run() {
    const EvaluationOrder order = OrderOf(knowledge_.rules(), knowledge_.relations());
    for (const DerivedRelation* relation : order.relations_before) Add(*relation);
    for (const Rule* rule : order.rules_before) Judge(*rule);
    findings_given_ = db_.FindRelation(FindingSchema().name) != nullptr;
    PutFindings(conclusions_.findings);
    for (const DerivedRelation* relation : order.relations_after) Add(*relation);
    for (const Rule* rule : order.rules_after) Judge(*rule);
    Nest(conclusions_, knowledge_);
    advice_.findings = std::move(conclusions_.findings);
    std::ranges::sort(advice_.rules, {}, &RuleSummary::id);
    advice_.coverage.rules = advice_.rules.size();
    for (const RuleSummary& rule : advice_.rules) {
      if (rule.fired + rule.clear + rule.suppressed > 0) ++advice_.coverage.decided;
      if (rule.subjects + rule.failed == 0) ++advice_.coverage.idle;
    }
    if (knowledge_.ledger()) GrantSavings(advice_, *knowledge_.ledger(), db_);
    advice_.relation_errors = std::move(errors_);
    PutFindings(advice_.findings);  // with those of the rules that read it, for who asks afterwards
    return std::move(advice_);
  }

 private:
  void PutFindings(const std::vector<Finding>& findings) {
    if (findings_given_) return;
    std::map<std::string, std::string> categories;
    for (const Rule& rule : knowledge_.rules()) categories[rule.id] = rule.category;
    db_.Add(std::unique_ptr<const Relation>(FindingTable(findings, categories)));
  }

  void Add(const DerivedRelation& relation) {
    if (db_.FindRelation(relation.schema.name)) return;
    if (const std::string* absent = FirstAbsent(relation.reads))
      absent_.emplace(relation.schema.name, absent_.at(*absent));
    std::unique_ptr<const Relation> table;
    try {
      if (const std::string* error = FirstError(relation.reads)) throw SqlError(*error, -1);
      table = Evaluate(relation, db_);
    } catch (const SqlError& error) {
      errors_.emplace(relation.schema.name, error.what());
      table = std::make_unique<Table>(relation.schema);
    }
    db_.Add(std::move(table));
  }

  void Judge(const Rule& rule) {
    const std::string* error = FirstError(rule.reads);
    const std::string* absent = FirstAbsent(rule.reads);
    if (absent) absent = FirstAbsent(RelationsThatDecide(rule, db_));
    Evaluation evaluation;
    if (error) {
      evaluation = NotEvaluated(rule, Outcome::kFailed, *error);
    } else if (absent) {
      evaluation = NotEvaluated(rule, Outcome::kUnknown,
                                fmt::format("it reads {}, which {}", absent_.at(*absent),
                                            options_.absent_relations.at(absent_.at(*absent))));
      evaluation.findings[0].missing = {absent_.at(*absent)};
      evaluation.findings[0].lacks = {evaluation.findings[0].error};
      evaluation.findings[0].error.clear();
    } else {
      evaluation = EvaluateRule(rule, db_, conclusions_, options_);
    }
    advice_.rules.push_back(Summarize(rule, evaluation));
    conclusions_.Add(std::move(evaluation.findings));
  }

  // The first of the relations that is absent, or reads one that is; or null.
  const std::string* FirstAbsent(const std::vector<std::string>& relations) const {
    for (const std::string& name : relations)
      if (const auto absent = absent_.find(name); absent != absent_.end()) return &absent->first;
    return nullptr;
  }

  // Why one of the relations has no rows, or null.
  const std::string* FirstError(const std::vector<std::string>& relations) const {
    for (const std::string& name : relations)
      if (const auto error = errors_.find(name); error != errors_.end()) return &error->second;
    return nullptr;
  }

  const KnowledgeBase& knowledge_;
  Database& db_;
  EvaluationOptions options_;
  bool findings_given_ = false;
  Conclusions conclusions_;
  std::map<std::string, std::string> errors_;  // of derived relations
  std::map<std::string, std::string> absent_;  // relations, and which absent one they read
  Advice advice_;
};

}  // namespace

Advice Infer(const KnowledgeBase& knowledge, Database& db, const EvaluationOptions& options) {
  return Inference(knowledge, db, options).Run();
}

}  // namespace dladvisor
