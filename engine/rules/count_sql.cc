// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/count_sql.h"

#include <algorithm>
#include <set>
#include <vector>

#include "engine/base/sqlite.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

using Words = std::set<std::string>;  // in capitals

void AddWords(std::string_view sql, Words& words) {
  for (const SqlWord& word : SqlWords(sql))
    if (word.is_name) words.insert(UpperAscii(word.text));
}

// A let that decides. Its level is above those of the lets that it names.
struct DecidingLet {
  const Let* let;
  size_t level = 0;
};

std::string Subjects(const Rule& rule, const Schema* subject, const Words& named) {
  if (!subject) return rule.subject_sql;
  std::string columns;
  for (const Column& column : subject->columns)
    if (named.contains(UpperAscii(column.name)))
      columns += (columns.empty() ? "" : ", ") + QuotedName(column.name);
  return "SELECT " + (columns.empty() ? "1" : columns) + " FROM " + QuotedName(subject->name);
}

}  // namespace

std::string NotClearSql(const Rule& rule) {
  std::string sql;
  for (const Condition& condition : rule.when)
    sql += (sql.empty() ? "((" : " AND ((") + condition.sql + "\n) IS NOT FALSE)";
  return sql.empty() ? "1" : sql;
}

std::string CountSql(const Rule& rule, const Schema* subject) {
  Words named;
  for (const Condition& condition : rule.when) AddWords(condition.sql, named);
  std::vector<DecidingLet> deciding;
  std::vector<Words> words;                      // of each of them
  for (size_t i = rule.lets.size(); i-- > 0;) {  // lets name earlier ones alone
    if (!named.contains(UpperAscii(rule.lets[i].name))) continue;
    deciding.push_back({&rule.lets[i]});
    AddWords(rule.lets[i].sql, words.emplace_back());
    named.insert(words.back().begin(), words.back().end());
  }
  size_t levels = 0;
  for (size_t i = deciding.size(); i-- > 0;) {
    for (size_t earlier = deciding.size(); --earlier > i;)
      if (words[i].contains(UpperAscii(deciding[earlier].let->name)))
        deciding[i].level = std::max(deciding[i].level, deciding[earlier].level + 1);
    levels = std::max(levels, deciding[i].level + 1);
  }
  std::string sql = Subjects(rule, subject, named);
  for (size_t level = 0; level < levels; ++level) {
    std::string lets;
    for (const DecidingLet& of : deciding)
      if (of.level == level) lets += ", (" + of.let->sql + "\n) AS " + QuotedName(of.let->name);
    sql = "SELECT subject.*" + lets + " FROM (" + sql + "\n) AS subject";
  }
  return "SELECT count(*), count(iif(" + NotClearSql(rule) + ", 1, NULL)) FROM (" + sql + "\n) AS subject";
}

}  // namespace dladvisor
