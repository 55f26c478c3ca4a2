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

// Two subjects match when their shared key columns are equal.
bool Match(const Finding& a, const Finding& b) {
  for (const NamedValue& key : a.subject)
    for (const NamedValue& other : b.subject)
      if (key.name == other.name && key.value != other.value) return false;
  return true;
}

const Finding* FindFired(const std::vector<Finding>& findings, const std::string& rule,
                         const Finding& subject) {
  for (const Finding& finding : findings)
    if (finding.rule == rule && finding.outcome == Outcome::kFired && Match(finding, subject))
      return &finding;
  return nullptr;
}

std::optional<bool> Truth(const Value& value) {
  if (IsNull(value)) return std::nullopt;
  return AsNumber(value).value_or(0) != 0;
}

std::string SqlLiteral(const Value& value) {
  if (IsNull(value)) return "NULL";
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  std::string literal = "'";
  for (const char c : std::get<std::string>(value)) literal += c == '\'' ? "''" : std::string(1, c);
  return literal + "'";
}

// `sql` with every :name outside strings replaced by its value, so that it can be run again by itself.
std::string WithValues(const std::string& sql, std::span<const Binding> bindings) {
  std::string text;
  bool in_string = false;
  for (size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] == '\'') in_string = !in_string;
    if (sql[i] != ':' || in_string) {
      text += sql[i];
      continue;
    }
    size_t end = i + 1;
    while (end < sql.size() && (std::isalnum(static_cast<unsigned char>(sql[end])) || sql[end] == '_')) ++end;
    const std::string name = sql.substr(i + 1, end - i - 1);
    const auto found =
        std::find_if(bindings.begin(), bindings.end(), [&](const Binding& b) { return b.name == name; });
    text += found == bindings.end() ? sql.substr(i, end - i) : SqlLiteral(found->value);
    i = end - 1;
  }
  return text;
}

// Evaluates one rule on all its subjects.
class RuleEvaluation {
 public:
  RuleEvaluation(const Rule& rule, const Database& db, const std::vector<Finding>& earlier,
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
    for (const Condition& condition : rule_.when) sql += ", (" + condition.sql + "\n)";
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
      for (const NamedValue& value : scope)
        if (NamesWord(trace.sql, value.name) || trace.sql.find(":" + value.name) != std::string::npos)
          trace.facts.push_back(value);
      any_false |= trace.holds == false;
      any_null |= !trace.holds;
      finding.why.push_back(std::move(trace));
    }
    for (const RuleReference& given : rule_.given) {
      const bool holds = FindFired(earlier_, given.id, finding) != nullptr;
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
      if (FindFired(earlier_, unless.id, finding)) {
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
    if (is_new) entry->second = ExpressionReads(rule_, db_, rule_.when[condition].sql);
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
  const std::vector<Finding>& earlier_;
  const InferenceOptions& options_;
  std::vector<Binding> params_;
  size_t subject_columns_ = 0;
  std::map<size_t, std::vector<ColumnRead>> reads_;
  std::map<ColumnRead, bool> lacks_;
};

// Nests fired findings under the fired findings that cause them; of several causes the one that saves most.
void Nest(Advice& advice, const KnowledgeBase& knowledge) {
  const auto high = [&](size_t i) {
    const auto& saves = advice.findings[i].saves;
    return saves ? saves->high_ns.value_or(0) : 0;
  };
  for (size_t symptom = 0; symptom < advice.findings.size(); ++symptom) {
    Finding& finding = advice.findings[symptom];
    if (finding.outcome != Outcome::kFired) continue;
    std::optional<size_t> best;
    for (size_t cause = 0; cause < advice.findings.size(); ++cause) {
      const Finding& other = advice.findings[cause];
      if (other.outcome != Outcome::kFired || !Match(other, finding)) continue;
      const auto& causes = knowledge.Find(other.rule)->causes;
      if (std::none_of(causes.begin(), causes.end(),
                       [&](const RuleReference& r) { return r.id == finding.rule; }))
        continue;
      if (!best || high(cause) > high(*best)) best = cause;
    }
    if (!best) continue;
    finding.caused_by = best;
    advice.findings[*best].causes.push_back(symptom);
  }
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
  for (const Rule* rule : InOrder(knowledge)) {
    std::vector<Finding> findings = RuleEvaluation(*rule, db, advice.findings, options).Run();
    advice.rules.push_back(Summarize(*rule, findings));
    for (Finding& finding : findings) advice.findings.push_back(std::move(finding));
  }
  std::sort(advice.rules.begin(), advice.rules.end(),
            [](const RuleSummary& a, const RuleSummary& b) { return a.id < b.id; });
  Nest(advice, knowledge);
  advice.coverage.rules = advice.rules.size();
  for (const RuleSummary& rule : advice.rules)
    if (rule.fired + rule.clear + rule.suppressed > 0) ++advice.coverage.decided;
  return advice;
}

}  // namespace dladvisor
