// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/sql_checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/sqlite.h"
#include "engine/base/text.h"
#include "engine/rules/bad_patterns.h"
#include "engine/rules/odd_sql.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

bool IsQuery(const std::string& text) {
  const std::string first = SqlWords(text).front().word;
  return first == "SELECT" || first == "WITH" || first == "VALUES";
}

}  // namespace

std::vector<std::string> ParamNames(const Rule& rule) {
  std::vector<std::string> names;
  for (const Param& param : rule.params) names.push_back(param.name);
  return names;
}

bool SqlScope::HasColumn(const std::string& name) const {
  return std::ranges::any_of(columns, [&](const std::string& column) { return SameName(column, name); });
}

// An expression stands in parentheses, which its own must not close; patterns must be valid.
bool SqlChecker::CheckParentheses(const std::string& expression, const Place& place) {
  int depth = 0;
  for (const SqlToken& token : SqlTokens(expression)) {
    if (token.kind != SqlToken::Kind::kOther) continue;
    depth += token.text == "(" ? 1 : token.text == ")" ? -1 : 0;
    if (depth >= 0) continue;
    problems_.AddInText(place, rule_.id, "closes a parenthesis that is not open", expression,
                        static_cast<int>(token.start));
    return false;
  }
  return true;
}

bool SqlChecker::CheckExpression(const std::string& expression, const Place& place) {
  if (expression.empty()) return false;  // the reader has said so
  if (!CheckParentheses(expression, place)) return false;
  if (!CheckSql(ExpressionSql(scope_.usable, scope_.usable.lets.size(), expression), expression,
                kExpressionOffset, place, ParamNames(rule_)))
    return false;
  // As a filter it must be one value per row: aggregates would make one row of all subjects.
  const std::string filter =
      "SELECT 1 FROM (" + SubjectSql(scope_.usable, scope_.usable.lets.size()) + "\n) AS subject WHERE (";
  return CheckSql(filter + expression + "\n)", expression, static_cast<int>(filter.size()), place,
                  ParamNames(rule_));
}

bool SqlChecker::CheckSql(const std::string& sql, const std::string& text, int prefix, const Place& place,
                          const std::vector<std::string>& parameters) {
  if (const auto open = FindUnclosed(text)) {
    problems_.AddInText(place, rule_.id, fmt::format("opens {} and does not close it", open->what), text,
                        static_cast<int>(open->start));
    return false;
  }
  const std::string statement = WithHelpers(scope_.usable, sql);
  if (prefix >= 0) prefix += static_cast<int>(statement.size()) - static_cast<int>(sql.size());
  try {
    const SqlReads reads = db_.Prepare(statement);
    reads_.insert(reads.relations.begin(), reads.relations.end());
    bool sound = true;
    for (const std::string& name : reads.parameters)
      if (std::find(parameters.begin(), parameters.end(), name) == parameters.end()) {
        const auto at = FindParameter(text, name);
        problems_.AddInText(place, rule_.id,
                            fmt::format("no such param: :{}{}", name, DidYouMean(name, parameters)), text,
                            at ? static_cast<int>(*at) : -1);
        sound = false;
      }
    if (!sound) return false;
    const std::vector<BadPattern> patterns = BadPatterns(text, db_, ParamBindings(rule_));
    for (const BadPattern& bad : patterns)
      problems_.AddInText(place, rule_.id, bad.reason, text, static_cast<int>(bad.offset));
    return patterns.empty() && CheckOddSql(text, place, sql != text, parameters);
  } catch (const SqlError& error) {
    std::string reason = error.what();
    if (IsOfBrokenHelper(reason)) return false;
    if (reason.starts_with("no such column: ")) reason = WithRightColumn(reason, text);
    const int past = error.offset() - prefix - static_cast<int>(text.size());
    if (reason.starts_with("near ") && prefix >= 0 && error.offset() >= 0 && past >= 0)
      reason = text.find_last_not_of(" \n") != std::string::npos && text[text.find_last_not_of(" \n")] == '%'
                   ? "ends with %, which divides and keeps the remainder: 50 % is 0.5"
                   : "ends before it is complete";  // what follows is not the author's
    else if (sql == text && reason.starts_with("near ") && !IsQuery(text))
      reason += "; it is a query: SELECT ... FROM ...";
    else if (reason.starts_with("near "))
      reason = WithQuotedName(reason, text);
    if (reason.starts_with("misuse of ")) reason += "; it needs a query of its own: (SELECT ... FROM ...)";
    problems_.AddInText(place, rule_.id, reason, text,
                        prefix < 0 || error.offset() < prefix ? -1 : error.offset() - prefix);
    return false;
  }
}

// False where what is odd is an error. Expressions are checked twice, and what is odd said once.
bool SqlChecker::CheckOddSql(const std::string& text, const Place& place, bool is_expression,
                             const std::vector<std::string>& parameters) {
  bool sound = true;
  for (OddSql& odd : FindOddSql(text, db_)) {
    if (is_expression && scope_.HasColumn(odd.column))
      odd.reason += fmt::format(": write subject.{}, or the relation that is meant", odd.column);
    else if (!is_expression && std::ranges::find(parameters, odd.column) != parameters.end())
      odd.reason += fmt::format(": write :{}, or the relation that is meant", odd.column);
    else if (!odd.column.empty())
      odd.reason += ": write the relation that is meant";
    if (odd.is_certain) {
      problems_.AddInText(place, rule_.id, odd.reason, text, static_cast<int>(odd.offset));
      sound = false;
    } else if (warned_.emplace(place.line, place.column, odd.reason).second) {
      warnings_.AddInText(place, rule_.id, odd.reason, text, static_cast<int>(odd.offset));
    }
  }
  return sound;
}

// Whether SQL is wrong only because it reads a relation of 'with' that is: that has its own message.
bool SqlChecker::IsOfBrokenHelper(std::string_view reason) const {
  constexpr std::string_view kNoSuch = "no such relation: ";
  if (!reason.starts_with(kNoSuch)) return false;
  const std::string_view name =
      reason.substr(kNoSuch.size(), reason.find(' ', kNoSuch.size()) - kNoSuch.size());
  return std::ranges::any_of(scope_.broken_helpers,
                             [&](const std::string& broken) { return SameName(broken, name); });
}

// Adds the lets to the words that may have been meant.
std::string SqlChecker::WithRightColumn(const std::string& reason, const std::string& text) const {
  std::string name = reason.substr(reason.find(": ") + 2);
  name.resize(std::min(name.find_first_of(" ;"), name.size()));
  const std::string unknown = "no such column: " + name;
  if (text.find('"' + name + '"') != std::string::npos)
    return fmt::format("{}; a text stands in single quotes: '{}'", unknown, name);
  for (size_t i = scope_.checked_lets; i < rule_.lets.size(); ++i)
    if (SameName(rule_.lets[i].name, name))
      return fmt::format("let '{}' does not stand above: a let names those above it", name);
  if (std::ranges::find(rule_.params, name, &Param::name) != rule_.params.end())
    return fmt::format("{} (did you mean :{}?)", unknown, name);
  const std::string column = name.substr(name.rfind('.') + 1);
  if (SameName(name, rule_.subject_relation + "." + column) && scope_.HasColumn(column))
    return fmt::format("{} (did you mean subject.{}?)", unknown, column);
  if (column != name &&
      std::ranges::any_of(scope_.usable.lets, [&](const Let& let) { return SameName(let.name, column); }))
    return fmt::format("{} (did you mean {}?)", unknown, column);
  if (reason != unknown) return reason;  // which has a hint
  std::vector<std::string> known = scope_.columns;
  for (const Let& let : rule_.lets) known.push_back(let.name);
  return reason + DidYouMean(column, known);
}

// Of a word of SQL that is also a name here: what SQLite says of it is that the syntax is wrong.
std::string SqlChecker::WithQuotedName(const std::string& reason, const std::string& text) const {
  constexpr std::string_view kEnd = "\": syntax error";
  if (!reason.ends_with(kEnd)) return reason;
  const std::string name = reason.substr(6, reason.size() - 6 - kEnd.size());
  if (sqlite3_keyword_check(name.c_str(), static_cast<int>(name.size())) == 0) return reason;
  const auto is_it = [&](const std::string& other) { return SameName(other, name); };
  const bool is_name = scope_.HasColumn(name) || std::ranges::any_of(rule_.lets, is_it, &Let::name) ||
                       std::ranges::any_of(rule_.helpers, is_it, &Helper::name) ||
                       std::ranges::any_of(db_.Relations(), [&](const Schema* schema) {
                         return NamesWord(text, schema->name) && schema->Find(name).has_value();
                       });
  return is_name ? fmt::format("{}; {} is a word of SQL, and as a name it stands in double quotes: \"{}\"",
                               reason, name, name)
                 : reason;
}

}  // namespace dladvisor
