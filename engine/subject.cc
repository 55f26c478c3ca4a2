#include "engine/subject.h"

#include <cctype>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

std::string Quoted(const std::string& name) { return '"' + name + '"'; }

}  // namespace

std::string SubjectSql(const Rule& rule, size_t lets) {
  std::string sql =
      rule.subject_sql.empty() ? "SELECT * FROM " + Quoted(rule.subject_relation) : rule.subject_sql;
  for (size_t i = 0; i < lets; ++i)
    sql = "SELECT subject.*, (" + rule.lets[i].sql + "\n) AS " + Quoted(rule.lets[i].name) + " FROM (" + sql +
          "\n) AS subject";
  return sql;
}

std::string ExpressionSql(const Rule& rule, size_t lets, const std::string& expression) {
  return "SELECT (" + expression + "\n) FROM (" + SubjectSql(rule, lets) + "\n) AS subject";
}

std::vector<Binding> ParamBindings(const Rule& rule) {
  std::vector<Binding> bindings;
  for (const Param& param : rule.params) bindings.push_back({param.name, param.value});
  return bindings;
}

std::vector<ColumnRead> ExpressionReads(const Rule& rule, const Database& db, const std::string& expression) {
  // Lets stand in as NULLs, so that only what the expression itself reads is seen; theirs are added below.
  std::string lets;
  for (const Let& let : rule.lets) lets += (lets.empty() ? "" : ", ") + ("NULL AS " + Quoted(let.name));
  const std::string from =
      rule.subject_sql.empty() ? Quoted(rule.subject_relation) : "(" + rule.subject_sql + "\n)";
  const std::string sql = "SELECT (" + expression + "\n) FROM " + from + " AS subject" +
                          (lets.empty() ? "" : ", (SELECT " + lets + ") AS lets");
  std::set<ColumnRead> reads;
  try {
    for (ColumnRead& read : db.Prepare(sql)) reads.insert(std::move(read));
  } catch (const SqlError&) {
    // `subject.name` of a let does not resolve here; the lets below still tell their reads.
  }
  for (const Let& let : rule.lets)
    if (&let.sql != &expression && NamesWord(expression, let.name))
      for (ColumnRead& read : ExpressionReads(rule, db, let.sql)) reads.insert(std::move(read));
  return {reads.begin(), reads.end()};
}

bool NamesWord(std::string_view sql, std::string_view name) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = 0; i < sql.size();) {
    if (sql[i] == '\'') {  // a string: skip to its end; '' inside restarts a string at once
      const size_t end = sql.find('\'', i + 1);
      i = end == std::string_view::npos ? sql.size() : end + 1;
    } else if (word(sql[i])) {
      size_t end = i;
      while (end < sql.size() && word(sql[end])) ++end;
      if (sql.substr(i, end - i) == name && (i == 0 || sql[i - 1] != ':')) return true;
      i = end;
    } else {
      ++i;
    }
  }
  return false;
}

}  // namespace dladvisor
