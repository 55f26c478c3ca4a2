// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/rule_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/message.h"
#include "engine/model/subject.h"
#include "engine/rules/contradiction.h"
#include "engine/rules/count_sql.h"
#include "engine/rules/message_checker.h"
#include "engine/rules/odd_sql.h"
#include "engine/rules/sql_checker.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

// SQLite's parser nests only so deep, and every let is a query around the one before.
constexpr size_t kMaxLets = 12;

class Checker {
 public:
  Checker(Rule& rule, const Database& db, const std::optional<Ledger>& ledger, Problems& problems,
          Problems& warnings)
      : rule_(rule),
        db_(db),
        ledger_(ledger),
        problems_(problems),
        warnings_(warnings),
        scope_{rule, {}, {}},
        sql_(rule, scope_, db, problems, warnings) {}

  void Check() {
    CheckHelpers();
    if (CheckSubject()) {
      CheckLets();
      for (Condition& condition : rule_.when) CheckCondition(condition);
      for (const Contradiction& found : FindContradictions(rule_.when, rule_.params)) {
        const Condition& condition = rule_.when[found.condition];
        (found.is_certain ? problems_ : warnings_)
            .AddInText(condition.place, rule_.id, found.reason, condition.sql,
                       static_cast<int>(found.offset));
      }
      for (const Contradiction& found : FindTautologies(
               rule_.when, rule_.params, [this](const std::string& name) { return BoundsOf(name); })) {
        const Condition& condition = rule_.when[found.condition];
        warnings_.AddInText(condition.place, rule_.id, found.reason, condition.sql,
                            static_cast<int>(found.offset));
      }
      CheckSaves();
      CheckEvidence();
      const MessageScope scope{rule_.id, AllNames(), types_};
      CheckMessage(rule_.problem, scope, problems_, warnings_);
      for (const Message& message : rule_.recommendation) CheckMessage(message, scope, problems_, warnings_);
      CheckMessage(rule_.code, scope, problems_, warnings_);
    }
    if (MessageNames(rule_.problem.text).empty() && !rule_.problem.text.empty())
      warnings_.Add(rule_.problem.place, rule_.id,
                    "the problem names no value: readers want to know how much");
    rule_.reads.assign(sql_.reads().begin(), sql_.reads().end());
    rule_.count_sql = WithHelpers(rule_, CountSql(rule_, db_.FindRelation(rule_.subject_relation)));
  }

 private:
  void Add(const Place& place, const std::string& reason) { problems_.Add(place, rule_.id, reason); }

  // Everything that a message or the evidence may name.
  std::vector<std::string> AllNames() const {
    std::vector<std::string> names = ParamNames(rule_);
    names.insert(names.end(), scope_.columns.begin(), scope_.columns.end());
    for (const Let& let : rule_.lets) names.push_back(let.name);
    return names;
  }

  // Leaves in scope_.usable the helpers that other SQL can be checked with.
  void CheckHelpers() {
    scope_.usable.helpers.clear();
    for (const Helper& helper : rule_.helpers) {
      const auto has_name = [&](const std::string& other) { return SameName(other, helper.name); };
      if (db_.FindRelation(helper.name) != nullptr)
        Add(helper.place, fmt::format("'{}' in 'with' has the name of a relation", helper.name));
      else if (std::ranges::any_of(scope_.usable.helpers, has_name, &Helper::name))
        Add(helper.place,
            fmt::format("'{}' stands twice in 'with': names in SQL are case-insensitive", helper.name));
      else if (sql_.CheckSql(helper.sql, helper.sql, 0, helper.place, ParamNames(rule_)) &&
               // Once more as it will be used: a query of its own may end in a semicolon, an inner one not.
               sql_.CheckSql("SELECT * FROM (" + helper.sql + "\n)", helper.sql, -1, helper.place,
                             ParamNames(rule_)))
        AddHelper(helper);
      else
        scope_.broken_helpers.push_back(helper.name);
    }
  }

  void AddHelper(const Helper& helper) {
    const ResolveName of_reads =
        TypesOfReads(db_, db_.Prepare(WithHelpers(scope_.usable, helper.sql)).columns);
    const ResolveName resolve = [&](std::string_view qualifier, std::string_view name) {
      return qualifier == ":" ? TypeOfParam(name) : of_reads(qualifier, name);
    };
    CheckTypes(helper.sql, helper.place, rule_.id, resolve, problems_);
    scope_.usable.helpers.push_back(helper);
  }

  bool CheckSubject() {
    if (!rule_.subject_relation.empty()) {
      const Schema* schema = db_.FindRelation(rule_.subject_relation);
      if (!schema) {
        std::vector<std::string> names;
        for (const Schema* known : db_.Relations()) names.push_back(known->name);
        const bool is_query = rule_.subject_relation.find(' ') != std::string::npos;
        Add(rule_.subject_place, fmt::format("no such relation: {}{}", rule_.subject_relation,
                                             is_query ? "; a query stands in {sql: SELECT ..., key: [COLUMN]}"
                                                      : DidYouMean(rule_.subject_relation, names)));
        return false;
      }
      rule_.subject_key = scope_.usable.subject_key = schema->key;
    } else if (rule_.subject_sql.empty() ||
               !sql_.CheckSql(rule_.subject_sql, rule_.subject_sql, 0, rule_.subject_place,
                              ParamNames(rule_)) ||
               // Once more as it will be used: a query of its own may end in a semicolon, an inner one not.
               !sql_.CheckSql(ExpressionSql(rule_, 0, "1"), rule_.subject_sql, -1, rule_.subject_place,
                              ParamNames(rule_))) {
      return false;
    }
    NameSubjectColumns();
    for (const std::string& key : rule_.subject_key)
      if (!scope_.HasColumn(key))
        Add(rule_.subject_place,
            fmt::format("key '{}' is not a column of the query{}", key, DidYouMean(key, scope_.columns)));
    for (const Param& param : rule_.params)
      if (scope_.HasColumn(param.name))
        Add(param.place, fmt::format("param '{}' has the name of a column of the subject", param.name));
    return true;
  }

  // The columns of the subject, their types and, of those that a query computes, their units.
  void NameSubjectColumns() {
    rule_.units.clear();
    const SqlReads reads = db_.Prepare(WithHelpers(scope_.usable, SubjectSql(rule_, 0)));
    const ResolveName of_reads = TypesOfReads(db_, reads.columns);
    SqlTypes computed;
    if (rule_.subject_sql.empty()) {
      for (const Column& column : db_.FindRelation(rule_.subject_relation)->columns)
        types_[column.name] = TypeOfColumn(column.name, column.type, column.unit);
    } else {
      const ResolveName resolve = [&](std::string_view qualifier, std::string_view name) {
        return qualifier == ":" ? TypeOfParam(name) : of_reads(qualifier, name);
      };
      computed = CheckTypes(rule_.subject_sql, rule_.subject_place, rule_.id, resolve, problems_);
    }
    for (const ResultColumn& column :
         db_.Query(WithHelpers(scope_.usable, SubjectSql(rule_, 0)), ParamBindings(rule_), 0).columns) {
      scope_.columns.push_back(column.name);
      const auto type = computed.columns.find(column.name);
      if (type == computed.columns.end()) continue;
      types_[column.name] = type->second;
      if (column.unit == Unit::kNone && type->second.unit) rule_.units[column.name] = *type->second.unit;
    }
  }

  SqlType TypeOfParam(std::string_view name) const {
    const auto param = std::ranges::find(rule_.params, name, &Param::name);
    if (param == rule_.params.end()) return {};
    const Value& value = param->value;
    SqlType type = TypeOfColumn("",
                                std::holds_alternative<std::string>(value) ? Type::kText
                                : std::holds_alternative<int64_t>(value)   ? Type::kInteger
                                                                           : Type::kReal,
                                param->unit);
    type.value = AsNumber(value);
    type.table = param->is_table;
    return type;
  }

  // What the names of an expression are, whose statement reads `reads`: a column of the subject, a let, a
  // param or a column of a relation in a sub-query.
  SqlTypes TypesOfExpression(const std::string& sql, const Place& place, Problems& problems) {
    const ResolveName of_reads = TypesOfReads(
        db_,
        db_.Prepare(WithHelpers(scope_.usable, ExpressionSql(scope_.usable, scope_.usable.lets.size(), sql)))
            .columns);
    const ResolveName resolve = [&](std::string_view qualifier, std::string_view name) -> SqlType {
      if (qualifier == ":") return TypeOfParam(name);
      const auto own = types_.find(std::string(name));
      if (qualifier == "subject") return own == types_.end() ? SqlType() : own->second;
      const SqlType read = of_reads(qualifier, name);
      if (own == types_.end() || !qualifier.empty()) return read;
      return read == SqlType() || read == own->second ? own->second : SqlType();
    };
    return CheckTypes(sql, place, rule_.id, resolve, problems);
  }

  void CheckCondition(Condition& condition) {
    if (!sql_.CheckExpression(condition.sql, condition.place)) return;
    const SqlType type = TypesOfExpression(condition.sql, condition.place, problems_).result;
    if (IsNoCondition(type)) Add(condition.place, NoCondition(type));
    if (!ReadsSubject(condition.sql))
      warnings_.Add(condition.place, rule_.id,
                    "is the same for every subject: it names neither a column nor a let");
    condition.comparisons = Comparisons(condition.sql);
    Problems ignored;
    for (Comparison& comparison : condition.comparisons) {
      for (const std::string* side : {&comparison.left, &comparison.right}) {
        try {
          const auto unit = TypesOfExpression(*side, condition.place, ignored).result.unit;
          if (unit) comparison.unit = *unit;
        } catch (const SqlError&) {  // no expression of its own, e.g. a row value
          return condition.comparisons.clear();
        }
      }
      if (comparison.unit == Unit::kRatio &&
          IsHundredfold(comparison.left) != IsHundredfold(comparison.right))
        CheckHundredfold(comparison, condition.place);
    }
  }

  // A hundred times a share that is compared with a share, as 100 % is 1; with 15 it is in percent, and
  // right.
  void CheckHundredfold(const Comparison& comparison, const Place& place) {
    const std::string& other = IsHundredfold(comparison.left) ? comparison.right : comparison.left;
    Problems ignored;
    if (TypesOfExpression(other, place, ignored).result.unit == Unit::kRatio)
      Add(place, fmt::format("compares a hundred times a share with the share {}: 100 % is 1", other));
  }

  // Only of columns that a relation declares: what is computed, a difference, may be below 0.
  Bounds BoundsOf(const std::string& name) const {
    const Schema* schema =
        rule_.subject_relation.empty() ? nullptr : db_.FindRelation(rule_.subject_relation);
    const auto index = schema ? schema->Find(name) : std::nullopt;
    if (!index) return Bounds::kUnknown;
    const Column& column = schema->columns[*index];
    if (TypeOfColumn(column.name, column.type, column.unit).share) return Bounds::kShare;
    return column.unit == Unit::kCount || column.unit == Unit::kCountPerStep ? Bounds::kNotNegative
                                                                             : Bounds::kUnknown;
  }

  // Whether an expression may differ between subjects.
  bool ReadsSubject(const std::string& sql) const {
    return std::ranges::any_of(SqlWords(sql), [&](const SqlWord& word) {
      const std::string name(word.text);
      return word.word == "SELECT" || scope_.HasColumn(name) ||
             std::ranges::any_of(rule_.lets, [&](const Let& let) { return SameName(let.name, name); });
    });
  }

  void CheckSaves() {
    if (!rule_.saves) return;
    const Saves& saves = *rule_.saves;
    if (ledger_ && !saves.from.empty() && ledger_->BucketsOf(saves.from).empty())
      Add(saves.from_place,
          fmt::format("no bucket '{}' in {}{}", saves.from, ledger_->relation, NearestBucket()));
    const auto check = [&](const Condition& claim, const char* name) {
      if (claim.sql.empty() || !sql_.CheckExpression(claim.sql, claim.place)) return;
      const SqlType type = TypesOfExpression(claim.sql, claim.place, problems_).result;
      if (type.unit && *type.unit != Unit::kNanoseconds)
        Add(claim.place,
            fmt::format("saves.{} is a time in ns and this is in {}", name, UnitName(*type.unit)));
      if (type.value && *type.value < 0)
        Add(claim.place, fmt::format("saves.{} is below 0: a saving is a time", name));
      if (type.value && *type.value > 0)
        warnings_.Add(claim.place, rule_.id,
                      fmt::format("saves.{} is the same for every subject: it reads no fact", name));
      CheckScaledTimes(claim.sql, claim.place);
    };
    check(saves.high, "high");
    if (saves.low) check(*saves.low, "low");
    if (saves.now) check(*saves.now, "now");
  }

  std::string NearestBucket() const {
    const std::string near = DidYouMean(rule_.saves->from, ledger_->buckets);
    return near.empty() ? fmt::format("; buckets: {}", fmt::join(ledger_->buckets, ", ")) : near;
  }

  // Leaves in scope_.usable the lets that other SQL can be checked with: NULL stands for a broken one.
  void CheckLets() {
    scope_.usable.lets.clear();
    for (Let& let : rule_.lets)
      if (let.inferred) let.unit = Unit::kNone;  // what it is made of may have changed
    for (Let let : std::vector<Let>(rule_.lets)) {
      scope_.checked_lets =
          static_cast<size_t>(std::ranges::find(rule_.lets, let.name, &Let::name) - rule_.lets.begin());
      if (scope_.usable.lets.size() == kMaxLets)
        return Add(let.place, fmt::format("a rule may have at most {} lets", kMaxLets));
      const std::vector<std::string> params = ParamNames(rule_);
      if (std::find(params.begin(), params.end(), let.name) != params.end())
        Add(let.place, fmt::format("let '{}' has the name of a param", let.name));
      const bool sound = sql_.CheckExpression(let.sql, let.place);
      const SqlType type = sound ? TypesOfExpression(let.sql, let.place, problems_).result : SqlType();
      const bool is_rate = let.unit == Unit::kCountPerStep && type.unit &&
                           (*type.unit == Unit::kRatio || *type.unit == Unit::kCount);  // of counts by steps
      if (type.unit && let.unit != Unit::kNone && let.unit != *type.unit && !is_rate)
        Add(let.place, fmt::format("let '{}' is declared in {} and is in {}", let.name, UnitName(let.unit),
                                   UnitName(*type.unit)));
      if (std::ranges::any_of(scope_.usable.lets,
                              [&](const Let& other) { return SameName(other.name, let.name); }))
        Add(let.place,
            fmt::format("there already is a let '{}': names in SQL are case-insensitive", let.name));
      if (scope_.HasColumn(let.name)) {
        Add(let.place, fmt::format("let '{}' has the name of a column of the subject", let.name));
        continue;
      }
      if (sound &&
          (let.unit == Unit::kNanoseconds ||
           (let.unit == Unit::kNone && type.unit == Unit::kNanoseconds && let.name.ends_with("_ns"))))
        CheckScaledTimes(let.sql, let.place);
      if (!sound) let.sql = "NULL";
      if (let.unit == Unit::kNone && type.unit) {
        let.unit = *type.unit;
        Let& own = *std::ranges::find(rule_.lets, let.name, &Let::name);
        own.unit = let.unit;
        own.inferred = true;
      }
      types_[let.name] = type;
      if (is_rate) types_[let.name].share = false;
      if (let.unit != Unit::kNone && let.unit != Unit::kText) types_[let.name].unit = let.unit;
      types_[let.name].share |= TypeOfColumn(let.name, Type::kReal, let.unit).share;
      scope_.usable.lets.push_back(std::move(let));
    }
    scope_.checked_lets = rule_.lets.size();
  }

  // Of SQL that gives a time.
  void CheckScaledTimes(const std::string& sql, const Place& place) {
    const auto is_time = [this](std::string_view name) {
      const auto type = types_.find(std::string(name));
      return type != types_.end() && type->second.unit == Unit::kNanoseconds;
    };
    for (const OddSql& odd : FindScaledTimes(sql, is_time))
      warnings_.AddInText(place, rule_.id, odd.reason, sql, static_cast<int>(odd.offset));
  }

  void CheckEvidence() {
    if (!rule_.evidence || rule_.evidence->sql.empty()) return;
    const std::string& sql = rule_.evidence->sql;
    if (db_.FindRelation(sql) != nullptr)
      return Add(rule_.evidence->place, fmt::format("evidence is a query: SELECT ... FROM {}", sql));
    if (!sql_.CheckSql(sql, sql, 0, rule_.evidence->place, AllNames())) return;
    const ResolveName of_reads = TypesOfReads(db_, db_.Prepare(WithHelpers(scope_.usable, sql)).columns);
    const ResolveName resolve = [&](std::string_view qualifier, std::string_view name) -> SqlType {
      if (qualifier != ":") return of_reads(qualifier, name);
      const auto own = types_.find(std::string(name));
      return own == types_.end() ? TypeOfParam(name) : own->second;
    };
    CheckTypes(sql, rule_.evidence->place, rule_.id, resolve, problems_);
  }

  Rule& rule_;
  const Database& db_;
  const std::optional<Ledger>& ledger_;
  Problems& problems_;
  Problems& warnings_;
  std::map<std::string, SqlType> types_;  // of the subject's columns and the lets so far
  SqlScope scope_;
  SqlChecker sql_;
};

}  // namespace

ResolveName TypesOfReads(const Database& db, std::vector<ColumnRead> reads) {
  return [&db, reads = std::move(reads)](std::string_view, std::string_view name) {
    std::optional<SqlType> type;
    for (const ColumnRead& read : reads) {
      if (read.column != name) continue;
      const Schema* schema = db.FindRelation(read.relation);
      const auto index = schema ? schema->Find(read.column) : std::nullopt;
      if (!index) continue;
      const Column& column = schema->columns[*index];
      const SqlType found = TypeOfColumn(column.name, column.type, column.unit);
      if (type && !(*type == found)) return SqlType();
      type = found;
    }
    return type.value_or(SqlType());
  };
}

SqlTypes CheckTypes(const std::string& text, const Place& place, const std::string& rule,
                    const ResolveName& resolve, Problems& problems) {
  SqlTypes types = InferTypes(text, resolve);
  for (const SqlTypeProblem& problem : types.problems)
    problems.AddInText(place, rule, problem.reason, text, static_cast<int>(problem.offset));
  return types;
}

void CheckRule(Rule& rule, const Database& empty, const std::optional<Ledger>& ledger, Problems& problems,
               Problems& warnings) {
  Checker(rule, empty, ledger, problems, warnings).Check();
}

}  // namespace dladvisor
