#include "engine/rule_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/message.h"
#include "engine/sql_text.h"
#include "engine/subject.h"

namespace dladvisor {
namespace {

// SQLite's parser nests only so deep, and every let is a query around the one before.
constexpr size_t kMaxLets = 12;

class Checker {
 public:
  Checker(Rule& rule, const Database& db, Problems& problems)
      : rule_(rule), db_(db), problems_(problems), usable_(rule) {}

  void Check() {
    if (CheckSubject()) {
      CheckLets();
      for (const Condition& condition : rule_.when) CheckExpression(condition.sql, condition.place);
      if (rule_.saves) CheckExpression(rule_.saves->high.sql, rule_.saves->high.place);
      if (rule_.saves && rule_.saves->low) CheckExpression(rule_.saves->low->sql, rule_.saves->low->place);
      CheckEvidence();
      CheckMessage(rule_.problem);
      for (const Message& message : rule_.recommendation) CheckMessage(message);
    }
    CheckUse();
  }

 private:
  void Add(const Place& place, const std::string& reason) { problems_.Add(place, rule_.id, reason); }

  std::vector<std::string> ParamNames() const {
    std::vector<std::string> names;
    for (const Param& param : rule_.params) names.push_back(param.name);
    return names;
  }

  // Everything that a message or the evidence may name.
  std::vector<std::string> AllNames() const {
    std::vector<std::string> names = ParamNames();
    names.insert(names.end(), columns_.begin(), columns_.end());
    for (const Let& let : rule_.lets) names.push_back(let.name);
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
      rule_.subject_key = usable_.subject_key = schema->key;
    } else if (rule_.subject_sql.empty() ||
               !CheckSql(rule_.subject_sql, rule_.subject_sql, 0, rule_.subject_place, ParamNames()) ||
               // Once more as it will be used: a query of its own may end in a semicolon, an inner one not.
               !CheckSql(ExpressionSql(rule_, 0, "1"), rule_.subject_sql, -1, rule_.subject_place,
                         ParamNames())) {
      return false;
    }
    for (const ResultColumn& column : db_.Query(SubjectSql(rule_, 0), ParamBindings(rule_), 0).columns)
      columns_.push_back(column.name);
    for (const std::string& key : rule_.subject_key)
      if (!IsColumn(key))
        Add(rule_.subject_place,
            fmt::format("key '{}' is no column of the query{}", key, DidYouMean(key, columns_)));
    for (const Param& param : rule_.params)
      if (IsColumn(param.name))
        Add(param.place, fmt::format("param '{}' has the name of a column of the subject", param.name));
    return true;
  }

  bool IsColumn(const std::string& name) const {
    return std::find(columns_.begin(), columns_.end(), name) != columns_.end();
  }

  // Leaves in usable_ the lets that other SQL can be checked with: NULL stands for a broken one.
  void CheckLets() {
    usable_.lets.clear();
    for (Let let : rule_.lets) {
      if (usable_.lets.size() == kMaxLets)
        return Add(let.place, fmt::format("a rule may have at most {} lets", kMaxLets));
      const std::vector<std::string> params = ParamNames();
      if (std::find(params.begin(), params.end(), let.name) != params.end())
        Add(let.place, fmt::format("let '{}' has the name of a param", let.name));
      const bool sound = CheckExpression(let.sql, let.place);
      if (IsColumn(let.name)) {
        Add(let.place, fmt::format("let '{}' has the name of a column of the subject", let.name));
        continue;
      }
      if (!sound) let.sql = "NULL";
      usable_.lets.push_back(std::move(let));
    }
  }

  bool CheckExpression(const std::string& expression, const Place& place) {
    if (expression.empty()) return false;  // the reader has said so
    if (!CheckSql(ExpressionSql(usable_, usable_.lets.size(), expression), expression, kExpressionOffset,
                  place, ParamNames()))
      return false;
    // As a filter it must be one value per row: aggregates would make one row of all subjects.
    const std::string filter =
        "SELECT 1 FROM (" + SubjectSql(usable_, usable_.lets.size()) + "\n) AS subject WHERE (";
    return CheckSql(filter + expression + "\n)", expression, static_cast<int>(filter.size()), place,
                    ParamNames());
  }

  // Prepares `sql`, in which `text` starts at `prefix` (-1: the place of an error in it is not known);
  // `parameters` may be named in it.
  bool CheckSql(const std::string& sql, const std::string& text, int prefix, const Place& place,
                const std::vector<std::string>& parameters) {
    try {
      std::vector<std::string> used;
      db_.Prepare(sql, &used);
      bool sound = true;
      for (const std::string& name : used)
        if (std::find(parameters.begin(), parameters.end(), name) == parameters.end()) {
          const auto at = FindParameter(text, name);
          problems_.AddInText(place, rule_.id,
                              fmt::format("no such param: :{}{}", name, DidYouMean(name, parameters)), text,
                              at ? static_cast<int>(*at) : -1);
          sound = false;
        }
      return sound;
    } catch (const SqlError& error) {
      std::string reason = error.what();
      if (reason.starts_with("no such column: ")) reason = WithRightColumn(reason);
      if (reason.starts_with("misuse of ")) reason += "; it needs a query of its own: (SELECT ... FROM ...)";
      problems_.AddInText(place, rule_.id, reason, text,
                          prefix < 0 || error.offset() < prefix ? -1 : error.offset() - prefix);
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
    CheckSql(rule_.evidence->sql, rule_.evidence->sql, 0, rule_.evidence->place, AllNames());
  }

  void CheckMessage(const Message& message) {
    const std::vector<std::string> names = AllNames();
    for (const MessageName& name : MessageNames(message.text)) {
      if (std::find(names.begin(), names.end(), name.name) != names.end()) continue;
      const bool plain = name.name.find_first_of("#^/>!=") == std::string::npos;
      problems_.AddInText(
          message.place, rule_.id,
          plain ? fmt::format("no value named '{}'{}", name.name, DidYouMean(name.name, names))
                : fmt::format(
                      "{{{{{}}}}} is no plain value: for words that depend on a value, make a let with iif()",
                      name.name),
          message.text, static_cast<int>(name.offset));
      return;  // a tag that is no value may change what the rest means
    }
    std::vector<NamedValue> scope;
    for (const std::string& name : names) scope.push_back({name, Value(int64_t{1}), Unit::kNone});
    try {
      RenderMessage(message.text, scope);
    } catch (const Error& error) {
      Add(message.place, error.reason());
    }
  }

  // Params and lets that nothing names are leftovers or typos.
  void CheckUse() {
    std::vector<std::string> sql;
    for (const Let& let : rule_.lets) sql.push_back(let.sql);
    for (const Condition& condition : rule_.when) sql.push_back(condition.sql);
    if (rule_.saves) sql.push_back(rule_.saves->high.sql);
    if (rule_.saves && rule_.saves->low) sql.push_back(rule_.saves->low->sql);
    if (rule_.evidence) sql.push_back(rule_.evidence->sql);
    sql.push_back(rule_.subject_sql);
    std::vector<MessageName> messages = MessageNames(rule_.problem.text);
    for (const Message& message : rule_.recommendation)
      for (MessageName& name : MessageNames(message.text)) messages.push_back(std::move(name));
    const auto in_message = [&](const std::string& name) {
      return std::any_of(messages.begin(), messages.end(),
                         [&](const MessageName& m) { return m.name == name; });
    };
    for (const Param& param : rule_.params) {
      const bool used = std::any_of(sql.begin(), sql.end(), [&](const std::string& text) {
        return FindParameter(text, param.name).has_value();
      });
      if (!used && !in_message(param.name))
        Add(param.place, fmt::format("param '{}' is never used", param.name));
    }
    for (const Let& let : rule_.lets) {
      const bool used = std::any_of(sql.begin(), sql.end(), [&](const std::string& text) {
        return NamesWord(text, let.name) || FindParameter(text, let.name).has_value();
      });
      if (!used && !in_message(let.name)) Add(let.place, fmt::format("let '{}' is never used", let.name));
    }
  }

  Rule& rule_;
  const Database& db_;
  Problems& problems_;
  std::vector<std::string> columns_;  // of the subject
  Rule usable_;                       // the rule with NULL for what is broken in it
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

void CheckReferences(const std::vector<Rule>& rules, const std::set<std::string>& broken,
                     Problems& problems) {
  std::vector<std::string> ids;
  for (const Rule& rule : rules) ids.push_back(rule.id);
  Edges order, causes;
  for (const Rule& rule : rules) {
    for (const auto* list : {&rule.given, &rule.unless, &rule.causes})
      for (const RuleReference& reference : *list) {
        if (std::find(ids.begin(), ids.end(), reference.id) == ids.end() && !broken.contains(reference.id))
          problems.Add(reference.place, rule.id,
                       fmt::format("no such rule: {}{}", reference.id, DidYouMean(reference.id, ids)));
        (list == &rule.causes ? causes : order)[rule.id].push_back(&reference);
      }
  }
  FindCycles(order, "given and unless", problems);
  FindCycles(causes, "causes", problems);
}

}  // namespace dladvisor
