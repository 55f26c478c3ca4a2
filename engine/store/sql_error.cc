// SPDX-License-Identifier: Apache-2.0
#include "engine/store/sql_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "engine/store/catalog.h"
#include "engine/store/sandbox.h"

namespace dladvisor {
namespace {

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string_view BehindDot(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// Where a column of that name is, which the statement does not reach from where it names it: in the relations
// that it reads elsewhere, or else in others. "" where there is none.
std::string WhereItIs(std::string_view column, std::string_view sql, const Catalog& catalog) {
  constexpr size_t kMost = 4;
  std::vector<std::string> read, others;
  for (const Relation* relation : catalog.relations()) {
    const Schema& schema = relation->schema();
    if (!schema.Find(column)) continue;
    (schema.name != column && FindWord(sql, schema.name) >= 0 ? read : others).push_back(schema.name);
  }
  if (!read.empty()) return fmt::format(" (a column of {}, but not here)", fmt::join(read, ", "));
  if (others.empty()) return "";
  const size_t more = others.size() - std::min(others.size(), kMost);
  others.resize(others.size() - more);
  return fmt::format(" (a column of {}{})", fmt::join(others, ", "),
                     more == 0 ? "" : fmt::format(" and {} more relations", more));
}

// SQLite's messages about a name that it does not know: how they begin, how ours do, and the names that may
// be meant.
struct Unknown {
  std::string_view sqlite, ours;
  std::vector<std::string> (*known)(std::string_view sql, const Catalog& catalog);
  bool qualified;  // the name's qualifier is SQLite's, not the statement's
  bool of_columns;
};

const Unknown kUnknown[] = {
    {"no such table: ", "no such relation: ",
     [](std::string_view, const Catalog& catalog) { return catalog.Names(); }, true, false},
    {"no such column: ", "no such column: ",
     [](std::string_view sql, const Catalog& catalog) {
       std::vector<std::string> columns;
       for (const Relation* relation : catalog.relations())
         if (FindWord(sql, relation->schema().name) >= 0)
           for (const Column& c : relation->schema().columns) columns.push_back(c.name);
       return columns;
     },
     false, true},
    {"no such function: ", "no such function: ",
     [](std::string_view, const Catalog&) { return AllowedFunctions(); }, false, false}};

// Characters that look like those of SQL and come with text that is copied from documents; or "".
std::string_view LooksAlike(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kAlike[] = {
      {"\u2018", "; texts stand in straight quotes: '...'"},
      {"\u2019", "; texts stand in straight quotes: '...'"},
      {"\u201c", "; texts stand in straight quotes: '...'"},
      {"\u201d", "; texts stand in straight quotes: '...'"},
      {"\u2212", "; it is not the minus of SQL: type -"},
      {"\u2013", "; it is not the minus of SQL: type -"},
      {"\u00a0", "; it holds a space that does not break: type it anew"},
      {"\u200b", "; it holds an invisible character: type it anew"},
      {"\u2264", "; SQL has <= in place of it"},
      {"\u2265", "; SQL has >= in place of it"},
      {"\u2260", "; SQL has <> in place of it"}};
  for (const auto& [character, hint] : kAlike)
    if (text.find(character) != std::string_view::npos) return hint;
  return "";
}

// "0,5"
bool HoldsDecimalComma(std::string_view sql) {
  const auto is_digit = [&](size_t at) {
    return at < sql.size() && std::isdigit(static_cast<unsigned char>(sql[at]));
  };
  for (size_t at = sql.find(','); at != std::string_view::npos; at = sql.find(',', at + 1))
    if (at > 0 && is_digit(at - 1) && is_digit(at + 1)) return true;
  return false;
}

// "name.word", before a parenthesis.
bool EndsWithMethod(std::string_view before) {
  size_t at = before.size();
  while (at > 0 && IsWordChar(before[at - 1])) --at;
  return at > 1 && at < before.size() && before[at - 1] == '.' && IsWordChar(before[at - 2]);
}

// "x IN " or "x not in ".
bool EndsWithIn(std::string_view before) {
  while (before.ends_with(' ')) before.remove_suffix(1);
  if (before.size() < 3 || IsWordChar(before[before.size() - 3])) return false;
  const std::string_view word = before.substr(before.size() - 2);
  return word == "IN" || word == "in";
}

// What SQL has in place of a function or value of other languages; or "".
std::string_view InOtherWords(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"contains", "; SQL has instr(text, 'part') > 0, or text LIKE '%part%'"},
      {"startswith", "; SQL has text LIKE 'part%'"},
      {"starts_with", "; SQL has text LIKE 'part%'"},
      {"endswith", "; SQL has text LIKE '%part'"},
      {"ends_with", "; SQL has text LIKE '%part'"},
      {"len", "; SQL has length(text)"},
      {"size", "; SQL has length(text), or count(*) in a query"},
      {"mean", "; SQL has avg(x)"},
      {"average", "; SQL has avg(x)"},
      {"p50", "; SQL has median(x)"},
      {"p90", "; SQL has percentile(x, 90)"},
      {"p95", "; SQL has percentile(x, 95)"},
      {"p99", "; SQL has percentile(x, 99)"},
      {"quantile", "; SQL has percentile(x, 90), the 90th"},
      {"if", "; SQL has iif(CONDITION, VALUE, OTHER)"},
      {"ifelse", "; SQL has iif(CONDITION, VALUE, OTHER)"},
      {"isnull", "; SQL has ifnull(x, OTHER), or x IS NULL"},
      {"nvl", "; SQL has ifnull(x, OTHER)"},
      {"int", "; SQL has CAST(x AS INTEGER)"},
      {"float", "; SQL has CAST(x AS REAL)"},
      {"str", "; SQL has CAST(x AS TEXT)"},
      {"concat", "; SQL has a || b"},
      {"regexp_match", "; SQL has text REGEXP 'pattern'"},
      {"none", "; SQL has NULL"},
      {"nil", "; SQL has NULL"},
      {"undefined", "; SQL has NULL"},
      {"nan", "; SQL has NULL"}};
  for (const auto& [other, hint] : kWords)
    if (name.size() == other.size() && std::ranges::equal(name, other, {}, [](char c) {
          return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }))
      return hint;
  return "";
}

// What is meant by what SQLite does not understand, where that is plain; or "".
std::string_view WhatIsMeant(std::string_view message, std::string_view sql, int offset) {
  constexpr std::string_view kPower = "; SQL has pow(x, y)";
  constexpr std::string_view kUnits[] = {"ns", "us", "ms", "s", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB"};
  if (message == "unrecognized token: \"#\"") return "; a comment in SQL begins with --";
  if (message == "unrecognized token: \"{\"")
    return "; {{name}} is for messages: in SQL a param is :name, and a let or column its name";
  if (message == "unrecognized token: \"^\"") return kPower;
  if (message == "row value misused" && HoldsDecimalComma(sql))
    return "; a number has a point, not a comma: 0.5";
  if (!message.starts_with("near \"") || !message.ends_with("\": syntax error") || offset < 0) return "";
  const std::string_view near = message.substr(6, message.find('"', 6) - 6);
  const std::string_view before = sql.substr(0, static_cast<size_t>(offset));
  if (const std::string_view hint = LooksAlike(near); !hint.empty()) return hint;
  if (near == ">" && before.ends_with('=')) return "; SQL has >= in place of =>";
  if (near == "<" && before.ends_with('=')) return "; SQL has <= in place of =<";
  if (near == "(" && EndsWithMethod(before))
    return "; SQL has no methods: upper(text), instr(text, 'part') > 0, text LIKE '%part%'";
  if (near == "if") return "; a choice is iif(CONDITION, VALUE, OTHER)";
  if (near == ";") return "; it is one query or expression, without ;";
  if (near == "*" && before.ends_with('*')) return kPower;
  if (EndsWithIn(before)) return "; IN takes a list in parentheses: (1, 2)";
  if (near == "&" && before.ends_with('&')) return "; SQL has AND in place of &&";
  const size_t value = before.find_last_not_of(' ');
  if (value != std::string_view::npos && std::isdigit(static_cast<unsigned char>(before[value])) &&
      std::ranges::find(kUnits, near) != std::end(kUnits))
    return "; times are in ns and sizes in bytes: 5 ms is 5e6";
  return "";
}

}  // namespace

int FindWord(std::string_view sql, std::string_view word) {
  for (size_t at = sql.find(word); at != std::string_view::npos; at = sql.find(word, at + 1)) {
    const bool starts = at == 0 || !IsWordChar(sql[at - 1]);
    const bool ends = at + word.size() >= sql.size() || !IsWordChar(sql[at + word.size()]);
    if (starts && ends) return static_cast<int>(at);
  }
  return -1;
}

SqlError ExplainSqlError(std::string_view sql, const std::string& message, int offset,
                         const Catalog& catalog) {
  if (message.ends_with(" may not be modified")) return {kOnlySelect, offset};
  for (const Unknown& unknown : kUnknown) {
    if (!message.starts_with(unknown.sqlite)) continue;
    std::string name = message.substr(unknown.sqlite.size());
    if (unknown.qualified) name = name.substr(name.find('.') + 1);
    const std::vector<std::string> known = unknown.known(sql, catalog);
    std::string hint = unknown.of_columns ? WhereItIs(BehindDot(name), sql, catalog) : "";
    if (unknown.qualified && sql.find("'" + name + "'") != std::string_view::npos)
      hint = fmt::format("; texts after IN stand in parentheses: ('{}')", name);
    if (hint.empty() && !unknown.qualified) hint = InOtherWords(name);
    if (hint.empty()) hint = LooksAlike(name);
    if (hint.empty()) hint = DidYouMean(BehindDot(name), known);
    return {std::string(unknown.ours) + name + hint, offset < 0 ? FindWord(sql, name) : offset};
  }
  return {message + std::string(WhatIsMeant(message, sql, offset)), offset};
}

}  // namespace dladvisor
