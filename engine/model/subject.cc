// SPDX-License-Identifier: Apache-2.0
#include "engine/model/subject.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

std::string Quoted(const std::string& name) { return '"' + name + '"'; }

// `expression` with `subject.LET` written as `LET`.
std::string WithBareLets(const Rule& rule, size_t lets, const std::string& expression) {
  std::string text;
  const std::vector<SqlToken> tokens = SqlTokens(expression);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool qualified =
        i + 2 < tokens.size() && NamesWord(tokens[i].text, "subject") && tokens[i + 1].text == ".";
    for (size_t let = 0; qualified && let < lets; ++let)
      if (NamesWord(tokens[i + 2].text, rule.lets[let].name)) {
        i += 2;
        break;
      }
    text += tokens[i].text;
  }
  return text;
}

// Whether SQL in capitals may name the let: true where it has that word within another, too.
bool MayName(std::string_view capitals, const Let& let) {
  return capitals.find(UpperAscii(let.name)) != std::string_view::npos;
}

}  // namespace

// Lets that name none of one another stand side by side: SQLite expands `subject.*` anew at each level.
// SQLite copies the expressions of what it selects from to where they are named, but not past a LIMIT.
std::string SubjectSql(const Rule& rule, size_t lets, LetValues values) {
  std::string sql =
      rule.subject_sql.empty() ? "SELECT * FROM " + Quoted(rule.subject_relation) : rule.subject_sql;
  for (size_t i = 0; i < lets;) {
    const auto level = std::span(rule.lets).subspan(i, lets - i);
    std::string columns;
    size_t count = 0;
    const auto names_one_of_the_level = [&](const Let& let) {
      const std::string capitals = UpperAscii(let.sql);
      return std::ranges::any_of(level.first(count),
                                 [&](const Let& other) { return MayName(capitals, other); });
    };
    for (; count < level.size() && !names_one_of_the_level(level[count]); ++count)
      columns += ", (" + level[count].sql + "\n) AS " + Quoted(level[count].name);
    sql = "SELECT subject.*" + columns + " FROM (" + sql + "\n) AS subject";
    if (values == LetValues::kOnce) sql += " LIMIT -1";
    i += count;
  }
  return sql;
}

std::string ExpressionSql(const Rule& rule, size_t lets, const std::string& expression) {
  return "SELECT (" + expression + "\n) FROM (" + SubjectSql(rule, lets) + "\n) AS subject";
}

std::string WithHelpers(const Rule& rule, const std::string& statement) {
  if (rule.helpers.empty()) return statement;
  std::string with;
  for (const Helper& helper : rule.helpers)
    with += (with.empty() ? "WITH RECURSIVE " : ", ") + Quoted(helper.name) + " AS MATERIALIZED (" +
            helper.sql + "\n)";
  const std::vector<SqlWord> words = SqlWords(statement);
  if (words[0].word != "WITH") return with + "\n" + statement;
  const bool recursive = words[1].word == "RECURSIVE";
  return with + ",\n" + statement.substr(words[recursive ? 1 : 0].end());
}

std::vector<Binding> ParamBindings(const Rule& rule) {
  std::vector<Binding> bindings;
  for (const Param& param : rule.params) bindings.push_back({param.name, param.value});
  return bindings;
}

std::vector<ColumnRead> ExpressionReads(const Rule& rule, const Database& db, size_t lets,
                                        const std::string& expression, const std::vector<bool>* follow) {
  // Lets stand in as NULLs beside the subject, so that only what the expression itself reads is seen; theirs
  // are added below.
  std::string nulls;
  for (size_t i = 0; i < lets; ++i) nulls += (i == 0 ? "" : ", ") + ("NULL AS " + Quoted(rule.lets[i].name));
  const std::string from =
      rule.subject_sql.empty() ? Quoted(rule.subject_relation) : "(" + rule.subject_sql + "\n)";
  const std::string sql = "SELECT (" + WithBareLets(rule, lets, expression) + "\n) FROM " + from +
                          " AS subject" + (nulls.empty() ? "" : ", (SELECT " + nulls + ") AS lets");
  std::set<ColumnRead> reads;
  try {
    for (ColumnRead& read : db.Prepare(WithHelpers(rule, sql)).columns) reads.insert(std::move(read));
  } catch (const SqlError&) {
    // Names that resolve only around the lets; what these read is added all the same.
  }
  for (size_t i = 0; i < lets; ++i)
    if (NamesWord(expression, rule.lets[i].name) && (follow == nullptr || (*follow)[i]))
      for (ColumnRead& read : ExpressionReads(rule, db, i, rule.lets[i].sql, follow))
        reads.insert(std::move(read));
  return {reads.begin(), reads.end()};
}

}  // namespace dladvisor
