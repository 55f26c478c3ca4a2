#include "engine/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/message.h"
#include "engine/sql_text.h"
#include "engine/subject.h"

namespace dladvisor {
namespace {

// Rules such that those named in `given` and `unless` come first; by id within a stratum.
std::vector<const Rule*> InOrder(const KnowledgeBase& knowledge) {
  std::map<std::string, int> stratum;
  const std::function<int(const Rule&)> depth = [&](const Rule& rule) {
    if (const auto known = stratum.find(rule.id); known != stratum.end()) return known->second;
    int deepest = 0;
    for (const auto* list : {&rule.given, &rule.unless})
      for (const RuleReference& reference : *list)
        if (const Rule* before = knowledge.Find(reference.id))
          deepest = std::max(deepest, depth(*before) + 1);
    return stratum[rule.id] = deepest;
  };
  std::vector<const Rule*> order;
  for (const Rule& rule : knowledge.rules()) {
    depth(rule);
    order.push_back(&rule);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](const Rule* a, const Rule* b) { return stratum[a->id] < stratum[b->id]; });
  return order;
}

bool SameValue(const Value& a, const Value& b) {
  if (a == b) return true;
  const auto x = AsNumber(a), y = AsNumber(b);
  return x && y && *x == *y;  // 1 and 1.0 name the same subject
}

// Two subjects match when their shared key columns are equal.
bool Match(const Finding& a, const Finding& b) {
  for (const NamedValue& key : a.subject)
    for (const NamedValue& other : b.subject)
      if (key.name == other.name && !SameValue(key.value, other.value)) return false;
  return true;
}

// The findings so far, and where those lie that fired.
struct Conclusions {
  std::vector<Finding> findings;
  std::map<std::string, std::vector<size_t>> fired;  // by rule

  void Add(std::vector<Finding> more) {
    for (Finding& finding : more) {
      if (finding.outcome == Outcome::kFired) fired[finding.rule].push_back(findings.size());
      findings.push_back(std::move(finding));
    }
  }
  const std::vector<size_t>& FiredBy(const std::string& rule) const {
    static const std::vector<size_t> kNone;
    const auto found = fired.find(rule);
    return found == fired.end() ? kNone : found->second;
  }
  bool Fired(const std::string& rule, const Finding& subject) const {
    return std::ranges::any_of(FiredBy(rule), [&](size_t i) { return Match(findings[i], subject); });
  }
};

std::optional<bool> Truth(const Value& value) {
  if (IsNull(value)) return std::nullopt;
  return AsNumber(value).value_or(0) != 0;
}

// Evaluates one rule on all its subjects.
class RuleEvaluation {
 public:
  RuleEvaluation(const Rule& rule, const Database& db, const Conclusions& earlier,
                 const InferenceOptions& options)
      : rule_(rule), db_(db), earlier_(earlier), options_(options), params_(ParamBindings(rule)) {}

  std::vector<Finding> Run() {
    std::vector<Finding> findings;
    try {
      const ResultSet rows = db_.Query(Sql(), params_);
      const size_t expressions = rule_.when.size() + (rule_.saves ? 2 : 0);
      subject_columns_ = rows.columns.size() - expressions - rule_.lets.size();
      for (const auto& row : rows.rows) findings.push_back(Judge(rows.columns, row));
    } catch (const SqlError& error) {
      findings = {New()};
      findings[0].outcome = Outcome::kFailed;
      findings[0].error = error.what();
    }
    return findings;
  }

 private:
  Finding New() const {
    Finding finding;
    finding.rule = rule_.id;
    finding.title = rule_.title;
    finding.severity = rule_.severity;
    finding.confidence = rule_.confidence;
    finding.references = rule_.references;
    return finding;
  }

  std::string Sql() const {
    std::string sql = "SELECT subject.*";
    // NOT NOT: true, false or NULL as SQL has it, also where the value is a text.
    for (const Condition& condition : rule_.when) sql += ", NOT NOT (" + condition.sql + "\n)";
    if (rule_.saves) {
      sql += ", (" + rule_.saves->high.sql + "\n)";
      sql += rule_.saves->low ? ", (" + rule_.saves->low->sql + "\n)" : ", NULL";
    }
    return sql + " FROM (" + SubjectSql(rule_, rule_.lets.size()) + "\n) AS subject";
  }

  Finding Judge(const std::vector<ResultColumn>& columns, const std::vector<Value>& row) {
    Finding finding = New();
    std::vector<NamedValue> scope;  // columns of the subject, lets, params
    for (size_t i = 0; i < subject_columns_ + rule_.lets.size(); ++i) {
      Unit unit = columns[i].unit;
      if (i >= subject_columns_ && rule_.lets[i - subject_columns_].unit != Unit::kNone)
        unit = rule_.lets[i - subject_columns_].unit;
      scope.push_back({columns[i].name, row[i], unit});
    }
    for (const std::string& key : rule_.subject_key)
      for (size_t i = 0; i < subject_columns_; ++i)
        if (scope[i].name == key) finding.subject.push_back(scope[i]);
    finding.lets.assign(scope.begin() + static_cast<std::ptrdiff_t>(subject_columns_), scope.end());
    for (const Param& param : rule_.params) scope.push_back({param.name, param.value, param.unit});

    const size_t first = subject_columns_ + rule_.lets.size();
    bool any_false = false, any_null = false;
    for (size_t i = 0; i < rule_.when.size(); ++i) {
      ConditionTrace trace{rule_.when[i].sql, Truth(row[first + i]), {}};
      for (size_t v = 0; v < scope.size(); ++v)
        if (v < first ? NamesWord(trace.sql, scope[v].name)
                      : FindParameter(trace.sql, scope[v].name).has_value())
          trace.facts.push_back(scope[v]);
      any_false |= trace.holds == false;
      any_null |= !trace.holds;
      finding.why.push_back(std::move(trace));
    }
    for (const RuleReference& given : rule_.given) {
      const bool holds = earlier_.Fired(given.id, finding);
      finding.why.push_back({"given " + given.id, holds, {}});
      any_false |= !holds;
    }
    if (any_false) return finding;
    if (any_null) {
      finding.outcome = Outcome::kUnknown;
      NameMissing(finding, scope);
      return finding;
    }
    finding.outcome = Outcome::kFired;
    for (const RuleReference& unless : rule_.unless)
      if (earlier_.Fired(unless.id, finding)) {
        finding.outcome = Outcome::kSuppressed;
        finding.suppressed_by = unless.id;
        break;
      }
    if (rule_.saves) {
      const auto claim = [&](const Value& value) -> std::optional<double> {
        const auto number = AsNumber(value);
        return number && std::isfinite(*number) ? std::optional(std::max(0.0, *number)) : std::nullopt;
      };
      const size_t at = first + rule_.when.size();
      finding.saves = SavingClaim{rule_.saves->from, claim(row[at + 1]), claim(row[at])};
    }
    Render(finding, scope);
    return finding;
  }

  void Render(Finding& finding, const std::vector<NamedValue>& scope) const {
    finding.problem = RenderMessage(rule_.problem.text, scope);
    for (const Message& message : rule_.recommendation)
      finding.recommendation.push_back(RenderMessage(message.text, scope));
    if (!rule_.evidence) return;
    std::vector<Binding> bindings;
    for (const NamedValue& value : scope) bindings.push_back({value.name, value.value});
    finding.evidence_sql = WithValues(rule_.evidence->sql, bindings);
    finding.evidence = db_.Query(rule_.evidence->sql, bindings, options_.max_evidence_rows);
  }

  // The facts that were NULL: columns of the subject's row, or columns of other relations without a value.
  void NameMissing(Finding& finding, const std::vector<NamedValue>& scope) {
    std::set<ColumnRead> missing, candidates;
    for (size_t i = 0; i < rule_.when.size(); ++i) {
      if (finding.why[i].holds) continue;
      for (const ColumnRead& read : Reads(i)) {
        const Schema* schema = db_.FindRelation(read.relation);
        const auto column = schema ? schema->Find(read.column) : std::nullopt;
        if (!column) continue;
        if (schema->columns[*column].nullable) candidates.insert(read);
        const auto own =
            std::find_if(scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(subject_columns_),
                         [&](const NamedValue& v) { return v.name == read.column; });
        const bool is_own = read.relation == rule_.subject_relation &&
                            own != scope.begin() + static_cast<std::ptrdiff_t>(subject_columns_);
        if (is_own ? IsNull(own->value) : LacksValue(read)) missing.insert(read);
      }
    }
    if (missing.empty()) missing = candidates;
    for (const ColumnRead& read : missing) {
      finding.missing.push_back(read.relation + "." + read.column);
      const Schema* schema = db_.FindRelation(read.relation);
      const std::string& flag = schema->columns[*schema->Find(read.column)].capture;
      if (!flag.empty() &&
          std::find(finding.capture.begin(), finding.capture.end(), flag) == finding.capture.end())
        finding.capture.push_back(flag);
    }
  }

  const std::vector<ColumnRead>& Reads(size_t condition) {
    auto [entry, is_new] = reads_.try_emplace(condition);
    if (is_new) entry->second = ExpressionReads(rule_, db_, rule_.lets.size(), rule_.when[condition].sql);
    return entry->second;
  }

  bool LacksValue(const ColumnRead& read) {
    auto [entry, is_new] = lacks_.try_emplace(read, false);
    if (is_new) {
      const ResultSet rows = db_.Query(fmt::format(
          "SELECT count(*) = 0 OR sum(\"{1}\" IS NULL) > 0 FROM \"{0}\"", read.relation, read.column));
      entry->second = Truth(rows.rows[0][0]).value_or(false);
    }
    return entry->second;
  }

  const Rule& rule_;
  const Database& db_;
  const Conclusions& earlier_;
  const InferenceOptions& options_;
  std::vector<Binding> params_;
  size_t subject_columns_ = 0;
  std::map<size_t, std::vector<ColumnRead>> reads_;
  std::map<ColumnRead, bool> lacks_;
};

// Nests fired findings under the fired findings that cause them; of several causes the one that saves most,
// of equal ones the first.
void Nest(Conclusions& conclusions, const KnowledgeBase& knowledge) {
  std::vector<Finding>& findings = conclusions.findings;
  const auto high = [&](size_t i) { return findings[i].saves ? findings[i].saves->high_ns.value_or(0) : 0; };
  for (size_t cause = 0; cause < findings.size(); ++cause) {
    if (findings[cause].outcome != Outcome::kFired) continue;
    for (const RuleReference& caused : knowledge.Find(findings[cause].rule)->causes)
      for (const size_t symptom : conclusions.FiredBy(caused.id)) {
        auto& best = findings[symptom].caused_by;
        if (Match(findings[cause], findings[symptom]) && (!best || high(cause) > high(*best))) best = cause;
      }
  }
  for (size_t symptom = 0; symptom < findings.size(); ++symptom)
    if (const auto& cause = findings[symptom].caused_by) findings[*cause].causes.push_back(symptom);
}

RuleSummary Summarize(const Rule& rule, std::span<const Finding> findings) {
  RuleSummary summary;
  summary.id = rule.id;
  summary.title = rule.title;
  summary.category = rule.category;
  summary.severity = rule.severity;
  summary.subjects = findings.size();
  for (const Finding& finding : findings) {
    switch (finding.outcome) {
      case Outcome::kFired:
        ++summary.fired;
        break;
      case Outcome::kClear:
        ++summary.clear;
        break;
      case Outcome::kUnknown:
        ++summary.unknown;
        break;
      case Outcome::kSuppressed:
        ++summary.suppressed;
        break;
      case Outcome::kFailed:
        ++summary.failed;
        break;
    }
  }
  if (findings.empty())
    summary.note = rule.subject_relation.empty() ? "nothing to judge" : "no row in " + rule.subject_relation;
  return summary;
}

}  // namespace

Advice Infer(const KnowledgeBase& knowledge, const Database& db, const InferenceOptions& options) {
  Advice advice;
  Conclusions conclusions;
  for (const Rule* rule : InOrder(knowledge)) {
    std::vector<Finding> findings = RuleEvaluation(*rule, db, conclusions, options).Run();
    advice.rules.push_back(Summarize(*rule, findings));
    conclusions.Add(std::move(findings));
  }
  Nest(conclusions, knowledge);
  advice.findings = std::move(conclusions.findings);
  std::sort(advice.rules.begin(), advice.rules.end(),
            [](const RuleSummary& a, const RuleSummary& b) { return a.id < b.id; });
  advice.coverage.rules = advice.rules.size();
  for (const RuleSummary& rule : advice.rules)
    if (rule.fired + rule.clear + rule.suppressed > 0) ++advice.coverage.decided;
  return advice;
}

}  // namespace dladvisor
