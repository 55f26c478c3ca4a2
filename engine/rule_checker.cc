#include "engine/rule_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "engine/base/text.h"
#include "engine/message.h"
#include "engine/subject.h"

namespace dladvisor {
namespace {

class Checker {
 public:
  Checker(Rule& rule, const Database& db, Problems& problems) : rule_(rule), db_(db), problems_(problems) {}

  void Check() {
    if (!CheckSubject()) return;
    if (!CheckLets()) return;
    for (const Condition& condition : rule_.when)
      CheckExpression(condition.sql, condition.place, rule_.lets.size());
    if (rule_.saves) {
      CheckExpression(rule_.saves->high.sql, rule_.saves->high.place, rule_.lets.size());
      if (rule_.saves->low)
        CheckExpression(rule_.saves->low->sql, rule_.saves->low->place, rule_.lets.size());
    }
    CheckEvidence();
    CheckMessage(rule_.problem);
    for (const Message& message : rule_.recommendation) CheckMessage(message);
    CheckUse();
  }

 private:
  void Add(const Place& place, const std::string& reason) { problems_.Add(place, rule_.id, reason); }

  std::vector<std::string> ParamNames() const {
    std::vector<std::string> names;
    for (const Param& param : rule_.params) names.push_back(param.name);
    return names;
  }

  bool CheckSubject() {
    if (!rule_.subject_relation.empty()) {
      const Schema* schema = db_.FindRelation(rule_.subject_relation);
      if (!schema) {
        std::vector<std::string> names;
        for (const Schema* known : db_.Relations()) names.push_back(known->name);
        Add(rule_.subject_place, fmt::format("no such relation: {}{}", rule_.subject_relation,
                                             DidYouMean(rule_.subject_relation, names)));
        return false;
      }
      rule_.subject_key = schema->key;
    } else if (rule_.subject_sql.empty() ||
               !CheckSql(rule_.subject_sql, rule_.subject_sql, 0, rule_.subject_place, {})) {
      return false;
    }
    for (const ResultColumn& column : SubjectColumns(0)) columns_.push_back(column.name);
    for (const std::string& key : rule_.subject_key)
      if (std::find(columns_.begin(), columns_.end(), key) == columns_.end())
        Add(rule_.subject_place,
            fmt::format("key '{}' is no column of the query{}", key, DidYouMean(key, columns_)));
    return true;
  }

  std::vector<ResultColumn> SubjectColumns(size_t lets) const {
    return db_.Query(SubjectSql(rule_, lets), ParamBindings(rule_), 0).columns;
  }

  bool CheckLets() {
    for (size_t i = 0; i < rule_.lets.size(); ++i) {
      const Let& let = rule_.lets[i];
      if (std::find(columns_.begin(), columns_.end(), let.name) != columns_.end()) {
        Add(let.place, fmt::format("let '{}' has the name of a column of the subject", let.name));
        return false;
      }
      if (!CheckExpression(let.sql, let.place, i)) return false;
    }
    return true;
  }

  bool CheckExpression(const std::string& expression, const Place& place, size_t lets) {
    if (expression.empty()) return true;  // the reader has said so
    std::vector<std::string> names = ParamNames();
    return CheckSql(ExpressionSql(rule_, lets, expression), expression, kExpressionOffset, place, names);
  }

  // Prepares `sql`, in which `text` starts at `prefix`; `parameters` may be named in it.
  bool CheckSql(const std::string& sql, const std::string& text, int prefix, const Place& place,
                std::vector<std::string> parameters) {
    try {
      std::vector<std::string> used;
      db_.Prepare(sql, &used);
      for (const std::string& name : used)
        if (std::find(parameters.begin(), parameters.end(), name) == parameters.end()) {
          const size_t at = text.find(":" + name);
          problems_.AddInText(place, rule_.id,
                              fmt::format("no such param: :{}{}", name, DidYouMean(name, parameters)), text,
                              at == std::string::npos ? -1 : static_cast<int>(at));
          return false;
        }
      return true;
    } catch (const SqlError& error) {
      std::string reason = error.what();
      if (reason.starts_with("no such column: ")) reason = WithRightColumn(reason);
      const int offset = error.offset() < prefix ? -1 : error.offset() - prefix;
      problems_.AddInText(place, rule_.id, reason, text, offset);
      return false;
    }
  }

  // Adds the lets to the words that may have been meant.
  std::string WithRightColumn(const std::string& reason) const {
    if (reason.find("did you mean") != std::string::npos) return reason;
    std::vector<std::string> known = columns_;
    for (const Let& let : rule_.lets) known.push_back(let.name);
    const std::string word = reason.substr(reason.rfind(' ') + 1);
    return reason + DidYouMean(word.substr(word.rfind('.') + 1), known);
  }

  void CheckEvidence() {
    if (!rule_.evidence || rule_.evidence->sql.empty()) return;
    std::vector<std::string> names = ParamNames();
    names.insert(names.end(), columns_.begin(), columns_.end());
    for (const Let& let : rule_.lets) names.push_back(let.name);
    CheckSql(rule_.evidence->sql, rule_.evidence->sql, 0, rule_.evidence->place, names);
  }

  void CheckMessage(const Message& message) {
    std::vector<std::string> names = ParamNames();
    names.insert(names.end(), columns_.begin(), columns_.end());
    for (const Let& let : rule_.lets) names.push_back(let.name);
    for (const std::string& name : MessageNames(message.text)) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      problems_.AddInText(message.place, rule_.id,
                          fmt::format("no value named '{}'{}", name, DidYouMean(name, names)), message.text,
                          static_cast<int>(message.text.find(name)));
    }
    NamedValueScope scope(names);
    try {
      RenderMessage(message.text, scope.values);
    } catch (const std::exception& error) {
      if (std::string_view(error.what()).find("no value named") == std::string_view::npos)
        Add(message.place, error.what());
    }
  }

  struct NamedValueScope {
    explicit NamedValueScope(const std::vector<std::string>& names) {
      for (const std::string& name : names) values.push_back({name, Value(int64_t{1}), Unit::kNone});
    }
    std::vector<NamedValue> values;
  };

  // Params and lets that nothing names are leftovers or typos.
  void CheckUse() {
    std::vector<std::string> sql;
    for (const Let& let : rule_.lets) sql.push_back(let.sql);
    for (const Condition& condition : rule_.when) sql.push_back(condition.sql);
    if (rule_.saves) sql.push_back(rule_.saves->high.sql);
    if (rule_.saves && rule_.saves->low) sql.push_back(rule_.saves->low->sql);
    if (rule_.evidence) sql.push_back(rule_.evidence->sql);
    sql.push_back(rule_.subject_sql);
    std::vector<std::string> messages = MessageNames(rule_.problem.text);
    for (const Message& message : rule_.recommendation)
      for (std::string& name : MessageNames(message.text)) messages.push_back(std::move(name));
    const auto in_message = [&](const std::string& name) {
      return std::find(messages.begin(), messages.end(), name) != messages.end();
    };
    for (const Param& param : rule_.params) {
      const bool used = std::any_of(sql.begin(), sql.end(), [&](const std::string& text) {
        return text.find(":" + param.name) != std::string::npos;
      });
      if (!used && !in_message(param.name))
        Add(param.place, fmt::format("param '{}' is never used", param.name));
    }
    for (const Let& let : rule_.lets) {
      const bool used = std::any_of(sql.begin(), sql.end(), [&](const std::string& text) {
        return NamesWord(text, let.name) || text.find(":" + let.name) != std::string::npos;
      });
      if (!used && !in_message(let.name)) Add(let.place, fmt::format("let '{}' is never used", let.name));
    }
  }

  Rule& rule_;
  const Database& db_;
  Problems& problems_;
  std::vector<std::string> columns_;  // of the subject
};

using Edges = std::map<std::string, std::vector<const RuleReference*>>;

// Reports one cycle reachable from each rule that lies on one, once.
void FindCycles(const Edges& edges, const std::string& kind, Problems& problems) {
  std::set<std::string> done;
  std::vector<std::string> path;
  const std::function<void(const std::string&)> visit = [&](const std::string& id) {
    path.push_back(id);
    if (const auto found = edges.find(id); found != edges.end())
      for (const RuleReference* reference : found->second) {
        const auto on_path = std::find(path.begin(), path.end(), reference->id);
        if (on_path != path.end()) {
          std::vector<std::string> cycle(on_path, path.end());
          cycle.push_back(reference->id);
          problems.Add(reference->place, id,
                       fmt::format("{} forms a cycle: {}", kind, fmt::join(cycle, " -> ")));
        } else if (!done.contains(reference->id)) {
          visit(reference->id);
        }
      }
    path.pop_back();
    done.insert(id);
  };
  for (const auto& [id, targets] : edges)
    if (!done.contains(id)) visit(id);
}

}  // namespace

EmptyRelations::EmptyRelations(const std::vector<const Schema*>& schemas) {
  tables_.reserve(schemas.size());
  for (const Schema* schema : schemas) tables_.emplace_back(*schema);
  for (const Table& table : tables_) database_.Add(table);
}

void CheckRule(Rule& rule, const Database& empty, Problems& problems) {
  Checker(rule, empty, problems).Check();
}

void CheckReferences(const std::vector<Rule>& rules, Problems& problems) {
  std::vector<std::string> ids;
  for (const Rule& rule : rules) ids.push_back(rule.id);
  Edges order, causes;
  for (const Rule& rule : rules) {
    for (const auto* list : {&rule.given, &rule.unless, &rule.causes})
      for (const RuleReference& reference : *list) {
        if (std::find(ids.begin(), ids.end(), reference.id) == ids.end())
          problems.Add(reference.place, rule.id,
                       fmt::format("no such rule: {}{}", reference.id, DidYouMean(reference.id, ids)));
        (list == &rule.causes ? causes : order)[rule.id].push_back(&reference);
      }
  }
  FindCycles(order, "given and unless", problems);
  FindCycles(causes, "causes", problems);
}

}  // namespace dladvisor
