// SPDX-License-Identifier: Apache-2.0
#include "engine/inference/rule_evaluation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/inference/missing_facts.h"
#include "engine/model/message.h"
#include "engine/model/subject.h"
#include "engine/rules/count_sql.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

// More findings than this help nobody, and would fill the memory.
constexpr size_t kMaxFindings = 100'000;
// Expressions of what a rule saves: high, low and now.
constexpr size_t kClaims = 3;
constexpr size_t kMaxBytes = size_t{128} << 20;

std::optional<bool> Truth(const Value& value) {
  if (IsNull(value)) return std::nullopt;
  return AsNumber(value).value_or(0) != 0;
}

std::optional<double> Finite(const Value& value) {
  const auto number = AsNumber(value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

size_t BytesOf(const NamedValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  return sizeof(value) + value.name.size() + (text ? text->size() : 0);
}

size_t BytesOf(const RenderedMessage& message) {
  size_t bytes = sizeof(message) + message.text.size();
  for (const PlacedValue& placed : message.values) bytes += sizeof(placed) + BytesOf(placed.value);
  return bytes;
}

// The memory that a finding takes, as far as it depends on the rule.
size_t BytesOf(const Finding& finding) {
  size_t bytes =
      sizeof(finding) + BytesOf(finding.problem) + finding.code.size() + finding.evidence_sql.size();
  for (const RenderedMessage& message : finding.recommendation) bytes += BytesOf(message);
  for (const auto* values : {&finding.subject, &finding.lets})
    for (const NamedValue& value : *values) bytes += BytesOf(value);
  for (const ConditionTrace& condition : finding.why) {
    bytes += sizeof(condition) + condition.sql.size();
    for (const NamedValue& fact : condition.facts) bytes += BytesOf(fact);
    bytes += condition.compared.size() * sizeof(ComparedValues);
  }
  for (const auto& row : finding.evidence.rows)
    for (const Value& value : row) {
      const auto* text = std::get_if<std::string>(&value);
      bytes += sizeof(value) + (text ? text->size() : 0);
    }
  return bytes;
}

// The words and parameters of SQL, each once.
struct NamesOfSql {
  std::set<std::string> words, parameters;  // words in capitals

  explicit NamesOfSql(std::string_view sql) {
    for (const SqlWord& word : SqlWords(sql)) {
      if (word.is_name) words.insert(UpperAscii(word.text));
      if (word.kind == SqlToken::Kind::kParameter) parameters.emplace(word.text.substr(1));
    }
  }
};

class RuleEvaluation {
 public:
  RuleEvaluation(const Rule& rule, const Database& db, const Conclusions& before,
                 const EvaluationOptions& options)
      : rule_(rule),
        db_(db),
        before_(before),
        options_(options),
        keep_clear_(options.keep_clear == "*" || options.keep_clear == rule.id),
        params_(ParamBindings(rule)) {}

  std::vector<std::string> Reads() const { return db_.Prepare(WithHelpers(rule_, Sql(false))).relations; }

  Evaluation Run() {
    Evaluation evaluation;
    size_t kept = 0, bytes = 0;
    const Database::SharedBudget budget(db_);  // for all statements of the rule together
    try {
      const Counts counts = Count();
      evaluation.subjects = counts.subjects;
      if (keep_clear_ ? counts.subjects == 0 : counts.not_clear == 0) return evaluation;
      const std::string sql = Sql(keep_clear_ || counts.none_is_clear);
      const ResultSet rows =
          db_.Query(WithHelpers(rule_, sql), params_, keep_clear_ ? SIZE_MAX : kMaxFindings + 1);
      if (!rows.rows.empty()) Prepare(rows.columns, sql);
      for (const auto& row : rows.rows) {
        Finding finding = Judge(row);
        if (finding.outcome == Outcome::kClear && !keep_clear_) continue;
        bytes += BytesOf(finding);
        if (bytes > kMaxBytes)
          throw SqlError(fmt::format("has findings of more than {} MiB", kMaxBytes >> 20), -1);
        if (finding.outcome != Outcome::kClear && ++kept > kMaxFindings)
          throw SqlError(
              fmt::format("has more than {} subjects that are not clear", WithThousands(kMaxFindings)), -1);
        evaluation.findings.push_back(std::move(finding));
      }
    } catch (const std::runtime_error& error) {  // of the rule or its facts; others are errors of the program
      evaluation.findings = {New()};
      evaluation.findings[0].outcome = Outcome::kFailed;
      evaluation.findings[0].error = error.what();
      evaluation.subjects = 1;
    }
    return evaluation;
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

  struct Counts {
    size_t subjects = 0, not_clear = 0;
    bool none_is_clear = false;  // known
  };

  // In one pass over the subjects. Of many, whose number is known, none is taken for clear.
  Counts Count() const {
    constexpr size_t kFew = 1000;
    const size_t rows = rule_.subject_relation.empty() ? 1 : db_.RowCount(rule_.subject_relation);
    if (rows == 0 || rows > kFew) return {rows, rows};
    const ResultSet counts = db_.Query(rule_.count_sql, params_);
    const auto count = [&](size_t i) { return static_cast<size_t>(AsNumber(counts.rows[0][i]).value_or(0)); };
    return {count(0), count(1), count(0) == count(1)};
  }

  // Of all subjects, or else of those that are not clear: what decides that is computed as far as it must be.
  std::string Sql(bool of_all) const {
    std::string sql = "SELECT subject.*";
    // NOT NOT: true, false or NULL as SQL has it, also where the value is a text.
    for (const Condition& condition : rule_.when) sql += ", NOT NOT (" + condition.sql + "\n)";
    if (rule_.saves) {
      sql += ", (" + rule_.saves->high.sql + "\n)";
      for (const std::optional<Condition>& claim : {rule_.saves->low, rule_.saves->now})
        sql += claim ? ", (" + claim->sql + "\n)" : ", NULL";
    }
    for (const Condition& condition : rule_.when)
      for (const Comparison& comparison : condition.comparisons)
        sql += ", (" + comparison.left + "\n), (" + comparison.right + "\n)";
    const LetValues values = of_all ? LetValues::kOnce : LetValues::kWhereNamed;
    return sql + " FROM (" + SubjectSql(rule_, rule_.lets.size(), values) + "\n) AS subject" +
           (of_all ? " LIMIT -1" : " WHERE " + NotClearSql(rule_));
  }

  // What is the same for all rows.
  void Prepare(const std::vector<ResultColumn>& columns, const std::string& sql) {
    size_t expressions = rule_.when.size() + (rule_.saves ? kClaims : 0);
    for (const Condition& condition : rule_.when) expressions += 2 * condition.comparisons.size();
    values_ = columns.size() - expressions;
    subject_columns_ = values_ - rule_.lets.size();
    for (size_t i = 0; i < values_; ++i) {
      Unit unit = columns[i].unit;
      if (i >= subject_columns_ && rule_.lets[i - subject_columns_].unit != Unit::kNone)
        unit = rule_.lets[i - subject_columns_].unit;
      if (const auto known = rule_.units.find(columns[i].name);
          i < subject_columns_ && known != rule_.units.end())
        unit = known->second;
      scope_.push_back({columns[i].name, {}, unit});
    }
    for (const Param& param : rule_.params) scope_.push_back({param.name, param.value, param.unit});
    for (const Let& let : rule_.lets) names_of_lets_.emplace_back(let.sql);
    for (size_t v = 0; v < values_; ++v) capitals_.push_back(UpperAscii(scope_[v].name));
    for (const Condition& condition : rule_.when) {
      auto& named = named_.emplace_back();
      AddNamed(NamesOfSql(condition.sql), named);
    }
    missing_.emplace(rule_, db_, scope_, subject_columns_, values_, sql);
    problem_.emplace(rule_.problem.text);
    for (const Message& message : rule_.recommendation) recommendation_.emplace_back(message.text);
    code_.emplace(rule_.code.text);
  }

  // Adds what the SQL names, through lets too, in the order that it is met.
  void AddNamed(const NamesOfSql& sql, std::vector<size_t>& named) const {
    for (size_t v = 0; v < scope_.size(); ++v) {
      if (std::ranges::find(named, v) != named.end()) continue;
      if (v < values_ ? !sql.words.contains(capitals_[v]) : !sql.parameters.contains(scope_[v].name))
        continue;
      named.push_back(v);
      if (v >= subject_columns_ && v < values_) AddNamed(names_of_lets_[v - subject_columns_], named);
    }
  }

  Finding Judge(const std::vector<Value>& row) {
    Finding finding = New();
    for (size_t i = 0; i < values_; ++i) scope_[i].value = row[i];
    for (const std::string& key : rule_.subject_key)
      for (size_t i = 0; i < subject_columns_; ++i)
        if (scope_[i].name == key) finding.subject.push_back(scope_[i]);
    for (size_t i = subject_columns_; i < values_; ++i) finding.lets.push_back(scope_[i]);

    finding.outcome = OutcomeOfConditions(finding, row);
    const Finding* unknown_given = nullptr;
    for (const RuleReference& given : rule_.given) {
      const bool fired = before_.Match(before_.fired, given.id, finding) != nullptr;
      const Finding* unknown = fired ? nullptr : before_.Match(before_.unknown, given.id, finding);
      finding.why.push_back({"given " + given.id, unknown ? std::nullopt : std::optional(fired), {}, {}});
      if (unknown) unknown_given = unknown;
      if (!fired && !unknown && !before_.Match(before_.failed, given.id, finding))
        finding.outcome = Outcome::kClear;
    }
    if (finding.outcome == Outcome::kClear) return finding;
    for (const RuleReference& given : rule_.given)
      if (before_.Match(before_.failed, given.id, finding)) {
        finding.outcome = Outcome::kFailed;
        finding.error = "rule " + given.id + ", which is given, failed";
        return finding;
      }
    if (finding.outcome == Outcome::kUnknown || unknown_given) {
      finding.outcome = Outcome::kUnknown;
      missing_->Name(finding);
      if (unknown_given) InheritMissing(*unknown_given, finding);
      std::ranges::sort(finding.lacks);
      return finding;
    }
    for (const RuleReference& unless : rule_.unless)
      if (before_.Match(before_.fired, unless.id, finding)) {
        finding.outcome = Outcome::kSuppressed;
        finding.suppressed_by = unless.id;
        break;
      }
    if (rule_.saves) Claim(finding, row);
    finding.problem = problem_->Render(scope_, options_.wording);
    for (const MessageTemplate& message : recommendation_)
      if (RenderedMessage words = message.Render(scope_, options_.wording);
          words.text.find_first_not_of(" \n") != std::string::npos)
        finding.recommendation.push_back(std::move(words));
    finding.code = code_->Render(scope_).text;
    while (!finding.code.empty() && std::isspace(static_cast<unsigned char>(finding.code.back())))
      finding.code.pop_back();
    if (rule_.evidence) Collect(finding);
    return finding;
  }

  Outcome OutcomeOfConditions(Finding& finding, const std::vector<Value>& row) const {
    bool any_false = false, any_null = false;
    size_t compared = values_ + rule_.when.size() + (rule_.saves ? kClaims : 0);
    for (size_t i = 0; i < rule_.when.size(); ++i) {
      ConditionTrace trace{rule_.when[i].sql, Truth(row[values_ + i]), {}, {}};
      for (const size_t v : named_[i]) trace.facts.push_back(scope_[v]);
      for (const Comparison& c : rule_.when[i].comparisons) {
        trace.compared.push_back(
            {c.left, c.op, c.right, row[compared], row[compared + 1], c.unit, LimitDoc(c)});
        compared += 2;
      }
      any_false |= trace.holds == false;
      any_null |= !trace.holds;
      finding.why.push_back(std::move(trace));
    }
    return any_false ? Outcome::kClear : any_null ? Outcome::kUnknown : Outcome::kFired;
  }

  // Of the param that is one side of a comparison.
  std::string LimitDoc(const Comparison& c) const {
    for (const std::string& side : {c.right, c.left}) {
      if (!side.starts_with(':')) continue;
      const auto param = std::ranges::find(rule_.params, std::string_view(side).substr(1), &Param::name);
      if (param != rule_.params.end()) return param->doc;
    }
    return "";
  }

  void Claim(Finding& finding, const std::vector<Value>& row) const {
    const size_t at = values_ + rule_.when.size();
    SavingClaim claim{rule_.saves->from, Finite(row[at + 1]), Finite(row[at]), {}};
    if (claim.high_ns) claim.high_ns = std::max(0.0, *claim.high_ns);
    if (claim.low_ns) claim.low_ns = std::max(0.0, *claim.low_ns);
    claim.claimed_ns = claim.high_ns;
    if (const auto now = Finite(row[at + 2])) claim.limit_ns = std::max(0.0, *now);
    if (claim.low_ns && claim.high_ns && *claim.low_ns > *claim.high_ns) {
      finding.error = fmt::format("saves: low is {} and above high, {}; nothing is claimed", *claim.low_ns,
                                  *claim.high_ns);
      return;
    }
    finding.saves = std::move(claim);
  }

  void Collect(Finding& finding) const {
    std::vector<Binding> bindings;
    for (const NamedValue& value : scope_) bindings.push_back({value.name, value.value});
    const std::string sql = WithHelpers(rule_, rule_.evidence->sql);
    finding.evidence_sql = WithValues(sql, bindings);
    try {
      finding.evidence = db_.Query(sql, bindings, options_.max_evidence_rows);
    } catch (const SqlError& error) {
      finding.error = fmt::format("evidence: {}", error.what());
    }
  }

  const Rule& rule_;
  const Database& db_;
  const Conclusions& before_;
  const EvaluationOptions& options_;
  const bool keep_clear_;
  std::vector<Binding> params_;
  size_t subject_columns_ = 0,
         values_ = 0;                  // columns of the query: the subject's, then the lets, then expressions
  std::vector<NamedValue> scope_;      // of the row at hand, then params
  std::vector<std::string> capitals_;  // names of the row's values, as NamesOfSql has them
  std::vector<NamesOfSql> names_of_lets_;
  std::vector<std::vector<size_t>> named_;  // what each condition names, in scope_
  std::optional<MessageTemplate> problem_;
  std::vector<MessageTemplate> recommendation_;
  std::optional<MessageTemplate> code_;
  std::optional<MissingFacts> missing_;
};

}  // namespace

Evaluation EvaluateRule(const Rule& rule, const Database& db, const Conclusions& before,
                        const EvaluationOptions& options) {
  return RuleEvaluation(rule, db, before, options).Run();
}

std::vector<std::string> RelationsThatDecide(const Rule& rule, const Database& db) {
  Rule judged = rule;
  judged.saves.reset();
  std::string named;
  for (const Condition& condition : judged.when) named += condition.sql + "\n";
  for (size_t i = judged.lets.size(); i-- > 0;) {  // lets name earlier ones alone
    if (NamesWord(named, judged.lets[i].name))
      named += judged.lets[i].sql + "\n";
    else
      judged.lets.erase(judged.lets.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return RuleEvaluation(judged, db, {}, {}).Reads();
}

}  // namespace dladvisor
