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
#include "engine/model/message.h"
#include "engine/model/subject.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

// More findings than this help nobody, and would fill the memory.
constexpr size_t kMaxFindings = 100'000;
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

// The memory that a finding takes, as far as it depends on the rule.
size_t BytesOf(const Finding& finding) {
  size_t bytes = sizeof(finding) + finding.problem.size() + finding.code.size() + finding.evidence_sql.size();
  for (const std::string& text : finding.recommendation) bytes += sizeof(text) + text.size();
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

  std::vector<std::string> Reads() const { return db_.Prepare(WithHelpers(rule_, Sql())).relations; }

  Evaluation Run() {
    Evaluation evaluation;
    size_t kept = 0, bytes = 0;
    const Database::SharedBudget budget(db_);  // for all statements of the rule together
    try {
      const Counts counts = Count();
      evaluation.subjects = counts.subjects;
      if (keep_clear_ ? counts.subjects == 0 : counts.not_clear == 0) return evaluation;
      const ResultSet rows =
          db_.Query(WithHelpers(rule_, Sql()), params_, keep_clear_ ? SIZE_MAX : kMaxFindings + 1);
      if (!rows.rows.empty()) Prepare(rows.columns);
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
  };

  // In one pass over the subjects, and by a statement that names each condition once: most rules find
  // nothing, and to prepare a statement takes longer than to run it over few rows. Of many, whose number is
  // known, none is taken for clear.
  Counts Count() const {
    constexpr size_t kFew = 1000;
    const size_t rows = rule_.subject_relation.empty() ? 1 : db_.RowCount(rule_.subject_relation);
    if (rows == 0 || rows > kFew) return {rows, rows};
    const ResultSet counts =
        db_.Query(WithHelpers(rule_, "SELECT count(*), count(iif(" + NotClear() + ", 1, NULL)) FROM (" +
                                         SubjectSql(rule_, rule_.lets.size()) + "\n) AS subject"),
                  params_);
    const auto count = [&](size_t i) { return static_cast<size_t>(AsNumber(counts.rows[0][i]).value_or(0)); };
    return {count(0), count(1)};
  }

  // No condition is false.
  std::string NotClear() const {
    std::string sql;
    for (const Condition& condition : rule_.when)
      sql += (sql.empty() ? "((" : " AND ((") + condition.sql + "\n) IS NOT FALSE)";
    return sql.empty() ? "1" : sql;
  }

  std::string Sql() const {
    std::string sql = "SELECT subject.*";
    // NOT NOT: true, false or NULL as SQL has it, also where the value is a text.
    for (const Condition& condition : rule_.when) sql += ", NOT NOT (" + condition.sql + "\n)";
    if (rule_.saves) {
      sql += ", (" + rule_.saves->high.sql + "\n)";
      sql += rule_.saves->low ? ", (" + rule_.saves->low->sql + "\n)" : ", NULL";
    }
    for (const Condition& condition : rule_.when)
      for (const Comparison& comparison : condition.comparisons)
        sql += ", (" + comparison.left + "\n), (" + comparison.right + "\n)";
    return sql + " FROM (" + SubjectSql(rule_, rule_.lets.size()) + "\n) AS subject" +
           (keep_clear_ ? "" : " WHERE " + NotClear());
  }

  // What is the same for all rows.
  void Prepare(const std::vector<ResultColumn>& columns) {
    size_t expressions = rule_.when.size() + (rule_.saves ? 2 : 0);
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
      NameMissing(finding);
      if (unknown_given) Inherit(*unknown_given, finding);
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
    finding.problem = problem_->Render(scope_);
    for (const MessageTemplate& message : recommendation_)
      if (std::string text = message.Render(scope_); text.find_first_not_of(" \n") != std::string::npos)
        finding.recommendation.push_back(std::move(text));
    finding.code = code_->Render(scope_);
    while (!finding.code.empty() && std::isspace(static_cast<unsigned char>(finding.code.back())))
      finding.code.pop_back();
    if (rule_.evidence) Collect(finding);
    return finding;
  }

  Outcome OutcomeOfConditions(Finding& finding, const std::vector<Value>& row) const {
    bool any_false = false, any_null = false;
    size_t compared = values_ + rule_.when.size() + (rule_.saves ? 2 : 0);
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

  // The facts that were NULL: columns of the subject's row, or columns of other relations without a value, as
  // far as the condition read them directly or through lets that are NULL. A relation without rows counts
  // where nothing that is there is NULL: it may well be without by right.
  void NameMissing(Finding& finding) {
    std::vector<bool> unknown_lets;
    for (size_t i = subject_columns_; i < values_; ++i) unknown_lets.push_back(IsNull(scope_[i].value));
    std::set<ColumnRead> missing, candidates;
    for (size_t i = 0; i < rule_.when.size(); ++i) {
      if (finding.why[i].holds) continue;
      std::set<ColumnRead> nulls, absent;
      for (const ColumnRead& read : Reads(i, unknown_lets)) {
        const Schema* schema = db_.FindRelation(read.relation);
        const auto column = schema ? schema->Find(read.column) : std::nullopt;
        if (!column) continue;
        if (schema->columns[*column].nullable) candidates.insert(read);
        const NamedValue* own = OwnColumn(read);
        const Lack lack = own ? LackOfOwn(*own) : LackOf(read, *schema);
        if (lack.kind == Lack::kNull) nulls.insert(read);
        if (lack.kind == Lack::kNoRow) absent.insert(read);
      }
      missing.merge(nulls.empty() ? absent : nulls);
    }
    if (missing.empty()) {
      missing = candidates;
      AddOnce(finding.lacks, WithoutResult(candidates));
    } else {
      std::map<std::pair<std::string, std::string>, std::vector<std::string>>
          columns;  // by relation and rows
      for (const ColumnRead& read : missing) {
        const NamedValue* own = OwnColumn(read);
        const Lack lack = own ? LackOfOwn(*own) : LackOf(read, *db_.FindRelation(read.relation));
        if (lack.kind == Lack::kNull)
          columns[{read.relation, lack.text}].push_back(read.relation + "." + read.column);
        else
          AddOnce(finding.lacks, lack.text);
      }
      for (const auto& [of, unknown] : columns)
        AddOnce(finding.lacks, fmt::format("{} {} unknown{}", fmt::join(unknown, ", "),
                                           unknown.size() == 1 ? "is" : "are", of.second));
    }
    for (const ColumnRead& read : missing) {
      finding.missing.push_back(read.relation + "." + read.column);
      const Schema* schema = db_.FindRelation(read.relation);
      const std::string& of_column = schema->columns[*schema->Find(read.column)].capture;
      AddCapture(finding, of_column);
    }
  }

  // What is there, and yet gives no value.
  static std::string WithoutResult(const std::set<ColumnRead>& reads) {
    std::set<std::string> relations;
    for (const ColumnRead& read : reads) relations.insert(read.relation);
    return relations.empty() ? "its SQL has no value here"
                             : fmt::format("no row of {} is as the rule asks, or what it divides by is 0",
                                           fmt::join(relations, ", "));
  }

  static void AddOnce(std::vector<std::string>& texts, const std::string& text) {
    if (!text.empty() && std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }

  static void AddCapture(Finding& finding, const std::string& name) {
    if (!name.empty() && std::ranges::find(finding.capture, name) == finding.capture.end())
      finding.capture.push_back(name);
  }

  static void Inherit(const Finding& from, Finding& to) {
    for (const std::string& fact : from.missing)
      if (std::ranges::find(to.missing, fact) == to.missing.end()) to.missing.push_back(fact);
    std::ranges::sort(to.missing);
    for (const std::string& name : from.capture) AddCapture(to, name);
    for (const std::string& text : from.lacks) AddOnce(to.lacks, text);
  }

  const NamedValue* OwnColumn(const ColumnRead& read) const {
    if (read.relation != rule_.subject_relation) return nullptr;
    for (size_t i = 0; i < subject_columns_; ++i)
      if (scope_[i].name == read.column) return &scope_[i];
    return nullptr;
  }

  const std::vector<ColumnRead>& Reads(size_t condition, const std::vector<bool>& lets) {
    auto [entry, is_new] = reads_.try_emplace({condition, lets});
    if (is_new)
      entry->second = ExpressionReads(rule_, db_, rule_.lets.size(), rule_.when[condition].sql, &lets);
    return entry->second;
  }

  // What is not there of a column that a condition reads, for a subject.
  struct Lack {
    enum Kind { kNone, kNoRow, kNull };
    Kind kind = kNone;
    std::string text = {};  // of kNull in which rows: " of bucket idle/input"; or ""
  };

  static Lack LackOfOwn(const NamedValue& value) {
    if (!IsNull(value.value)) return {};
    return {Lack::kNull, ""};
  }

  // Whether another relation has no row, or a NULL in the column, for this subject: the rows that match it
  // are those whose shared key columns are equal.
  const Lack& LackOf(const ColumnRead& read, const Schema& schema) {
    std::vector<Binding> keys;
    std::string where;
    for (const std::string& key : schema.key)
      for (size_t i = 0; i < subject_columns_; ++i)
        if (scope_[i].name == key && std::ranges::find(rule_.subject_key, key) != rule_.subject_key.end()) {
          where += fmt::format("{}\"{}\" IS :{}", where.empty() ? " WHERE " : " AND ", key, key);
          keys.push_back({key, scope_[i].value});
        }
    const std::string sql = fmt::format("SELECT count(*) = 0, sum(\"{}\" IS NULL) > 0 FROM \"{}\"{}",
                                        read.column, read.relation, where);
    auto [entry, is_new] = lacks_.try_emplace(WithValues(sql, keys));
    if (is_new) {
      const std::vector<Value> row = db_.Query(sql, keys).rows[0];
      if (Truth(row[0]).value_or(false))
        entry->second = {Lack::kNoRow, NoRowText(read, keys)};
      else if (Truth(row[1]).value_or(false))
        entry->second = {Lack::kNull, NullText(read, schema, where, keys)};
    }
    return entry->second;
  }

  std::string NoRowText(const ColumnRead& read, const std::vector<Binding>& keys) const {
    if (keys.empty() || db_.RowCount(read.relation) == 0)
      return fmt::format("{} has no rows here", read.relation);
    std::vector<std::string> shown;
    for (const Binding& key : keys)
      shown.push_back(fmt::format("{} {}", key.name, FormatValue(key.value, Unit::kNone)));
    return fmt::format("{} has no row of {}", read.relation, fmt::join(shown, ", "));
  }

  // " of bucket idle/input, idle/os and 3 more", where the last of the keys tells the rows of a subject
  // apart. Of rows that the rule names only those.
  std::string NullText(const ColumnRead& read, const Schema& schema, const std::string& where,
                       const std::vector<Binding>& keys) const {
    constexpr size_t kMost = 3, kMostLooked = 100;
    const auto is_bound = [&](const std::string& key) {
      return std::ranges::find(keys, key, &Binding::name) != keys.end();
    };
    if (schema.key.empty() || is_bound(schema.key.back()) || schema.key.back() == read.column) return "";
    const std::string& key = schema.key.back();
    const ResultSet rows =
        db_.Query(fmt::format("SELECT DISTINCT \"{0}\" FROM \"{1}\"{2}{3} \"{4}\" IS NULL ORDER BY 1", key,
                              read.relation, where, where.empty() ? " WHERE" : " AND", read.column),
                  keys, kMostLooked);
    std::vector<std::string> all, named;
    const std::string sql = Sql();
    for (const auto& row : rows.rows) {
      all.push_back(FormatValue(row[0], Unit::kNone));
      if (sql.find("'" + all.back() + "'") != std::string::npos) named.push_back(all.back());
    }
    std::vector<std::string>& shown = named.empty() ? all : named;
    const size_t more = shown.size() - std::min(shown.size(), kMost);
    shown.resize(shown.size() - more);
    return fmt::format(" of {} {}{}", key, fmt::join(shown, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : "");
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
  std::map<std::pair<size_t, std::vector<bool>>, std::vector<ColumnRead>> reads_;  // of a condition, by the
                                                                                   // lets that are NULL
  std::map<std::string, Lack> lacks_;
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
