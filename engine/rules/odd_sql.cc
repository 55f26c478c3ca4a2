// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/odd_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

using WordList = std::vector<SqlWord>;

std::optional<double> NumberOfWord(const SqlWord& word) {
  if (word.kind != SqlToken::Kind::kNumber) return std::nullopt;
  double number = 0;
  const char* const end = word.text.data() + word.text.size();
  const auto [stop, error] = std::from_chars(word.text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

bool IsOneOf(const SqlWord& word, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, word.word) != names.end();
}

// The words from `at` to the parenthesis that closes those around it, without what lies in deeper ones.
std::vector<const SqlWord*> RestOfLevel(const WordList& words, size_t at) {
  std::vector<const SqlWord*> rest;
  for (int depth = 0; at + 1 < words.size(); ++at) {
    if (words[at].text == ")" && --depth < 0) break;
    if (depth == 0) rest.push_back(&words[at]);
    if (words[at].text == "(") ++depth;
  }
  return rest;
}

// A JOIN that says by nothing which rows belong together.
void FindJoinOfAll(const WordList& words, size_t at, std::vector<OddSql>& odd) {
  if (words[at].word != "JOIN") return;
  const auto is_before = [&](size_t back, std::string_view word) {
    return at >= back && words[at - back].word == word;
  };
  if (is_before(1, "CROSS") || is_before(1, "NATURAL") || is_before(2, "NATURAL") || is_before(3, "NATURAL"))
    return;
  for (const SqlWord* word : RestOfLevel(words, at + 1)) {
    if (IsOneOf(*word, {"ON", "USING", "WHERE"})) return;
    if (IsOneOf(*word, {"JOIN", "GROUP", "ORDER", "UNION", "EXCEPT", "INTERSECT"})) break;
  }
  odd.push_back(
      {"joins each row with every row of the other: say which belong together with ON or USING, or "
       "write CROSS JOIN",
       words[at].start});
}

// (SELECT column FROM relation) as a value, of a relation of many rows.
void FindFirstOfMany(const WordList& words, size_t at, const Database& db, std::vector<OddSql>& odd) {
  if (words[at].text != "(" || words[at + 1].word != "SELECT") return;
  if (at > 0 && IsOneOf(words[at - 1], {"IN", "EXISTS", "FROM", "JOIN", "AS", "UNION", "ALL", "EXCEPT"}))
    return;
  const std::vector<const SqlWord*> query = RestOfLevel(words, at + 1);
  // SELECT column FROM relation: what is longer may well be one row.
  if (query.size() != 4 || !query[1]->is_name || query[2]->word != "FROM" || !query[3]->is_name) return;
  const Schema* schema = db.FindRelation(query[3]->text);
  if (!schema || schema->key.empty()) return;
  odd.push_back(
      {fmt::format("takes the first row of {}, whichever that is: choose one with WHERE, or sum them "
                   "up, as max({}) does",
                   query[3]->text, query[1]->text),
       words[at + 1].start});
}

// Where the query begins that the word is of: behind the parenthesis around it.
size_t BeginOfLevel(const WordList& words, size_t at) {
  int depth = 0;
  for (; at > 0; --at) {
    if (words[at - 1].text == ")") ++depth;
    if (words[at - 1].text == "(" && --depth < 0) break;
  }
  return at;
}

// Whether a query reads a relation by that name: FROM relation, or FROM relation AS name.
bool IsReadAs(const std::vector<const SqlWord*>& query, std::string_view name) {
  for (size_t i = 1; i < query.size(); ++i) {
    if (!query[i]->is_name || !SameName(query[i]->text, name)) continue;
    const bool has_other_name =
        i + 1 < query.size() && query[i + 1]->text != "," &&
        !IsOneOf(*query[i + 1], {"WHERE", "JOIN", "LEFT", "INNER", "CROSS", "ON", "GROUP", "ORDER", "LIMIT"});
    if (IsOneOf(*query[i - 1], {"FROM", "JOIN"}) && !has_other_name) return true;
    // Behind it, with or without AS.
    const size_t back = query[i - 1]->word == "AS" ? 3 : 2;
    if (i >= back && IsOneOf(*query[i - back], {"FROM", "JOIN"})) return true;
  }
  return false;
}

// Whether the name may be another thing in the query than a column of the one relation that has it: an alias
// of the list of SELECT, or a column that several relations have in common.
bool MayBeAnother(const std::vector<const SqlWord*>& query, std::string_view name) {
  for (size_t i = 1; i < query.size(); ++i) {
    if (IsOneOf(*query[i], {"USING", "NATURAL", "UNION", "EXCEPT", "INTERSECT"})) return true;
    if (!query[i]->is_name || !SameName(query[i]->text, name)) continue;
    const SqlWord& before = *query[i - 1];
    if (before.word == "AS" || before.text == ")" || before.kind == SqlToken::Kind::kNumber ||
        before.kind == SqlToken::Kind::kString ||
        (before.is_name && !IsOneOf(before, {"SELECT", "DISTINCT", "ALL", "WHERE", "ON", "AND", "OR",
                                             "HAVING", "BY", "WHEN", "FROM", "JOIN"})))
      return true;
  }
  return false;
}

// relation.column = column within a query of that relation, whose column the second is, too. Only where the
// two are all of a condition: what stands beside them may belong to either side.
void FindComparisonWithItself(const WordList& words, size_t at, std::vector<OddSql>& odd) {
  if (words[at].text != "=" && words[at].text != "==") return;
  const auto begins = [&](size_t first) {
    return first > 0 && IsOneOf(words[first - 1], {"WHERE", "ON", "HAVING", "AND", "OR"});
  };
  const auto ends = [&](size_t last) {
    const size_t next = last + 1;
    return next + 1 >= words.size() || words[next].text == ")" || words[next].text == ";" ||
           IsOneOf(words[next], {"AND", "OR", "GROUP", "HAVING", "ORDER", "LIMIT", "JOIN", "LEFT", "INNER",
                                 "CROSS", "WHERE"});
  };
  const auto report = [&](size_t relation, size_t column) {
    if (!SameName(words[relation + 2].text, words[column].text)) return;
    const std::string_view name = words[relation].text;
    const std::vector<const SqlWord*> query = RestOfLevel(words, BeginOfLevel(words, at));
    if (!IsReadAs(query, name) || MayBeAnother(query, words[column].text)) return;
    if (std::ranges::any_of(query, [](const SqlWord* word) { return word->word == "BETWEEN"; })) return;
    odd.push_back({fmt::format("compares {0}.{1} with itself, which {1} is here", name, words[column].text),
                   words[column].start, true, std::string(words[column].text)});
  };
  const auto is_qualified = [&](size_t i) {
    return i + 2 < words.size() && words[i].is_name && words[i + 1].text == "." && words[i + 2].is_name;
  };
  if (at >= 3 && is_qualified(at - 3) && words[at + 1].is_name && begins(at - 3) && ends(at + 1))
    report(at - 3, at + 1);
  if (at >= 1 && words[at - 1].is_name && is_qualified(at + 1) && begins(at - 1) && ends(at + 3))
    report(at + 1, at - 1);
}

void FindWildcard(const WordList& words, size_t at, std::vector<OddSql>& odd) {
  constexpr std::string_view kEquals[] = {"=", "==", "<>", "!="};
  const SqlWord& text = words[at + 1];
  if (text.kind != SqlToken::Kind::kString || text.text.size() < 3) return;
  const std::string_view inner = text.text.substr(1, text.text.size() - 2);
  if (std::ranges::find(kEquals, words[at].text) == std::end(kEquals)) return;
  if (at + 2 < words.size() && words[at + 2].text == "||") return;  // a part of the text
  const auto begins_or_ends = [&](char c) { return inner.front() == c || inner.back() == c; };
  if (!begins_or_ends('%') && !begins_or_ends('*')) return;
  odd.push_back({fmt::format("compares with the very text '{}': {} for any characters", inner,
                             begins_or_ends('%') ? "LIKE has %" : "GLOB has *"),
                 text.start});
}

void FindPercentile(const WordList& words, size_t at, std::vector<OddSql>& odd) {
  if (words[at].word != "PERCENTILE" || words[at + 1].text != "(") return;
  const std::vector<const SqlWord*> arguments = RestOfLevel(words, at + 2);
  if (arguments.size() < 3 || arguments[arguments.size() - 2]->text != ",") return;
  const SqlWord& percent = *arguments.back();
  const std::optional<double> number = NumberOfWord(percent);
  if (!number) return;
  if (*number > 100)
    odd.push_back({"percentile: the second argument is a number from 0 to 100", percent.start, true});
  else if (*number > 0 && *number < 1)
    odd.push_back({fmt::format("{0} is below the 1st percentile; write {1:.6g} for a share of {0}",
                               percent.text, 100 * *number),
                   percent.start});
}

void FindNumberMisused(const WordList& words, size_t at, std::vector<OddSql>& odd) {
  const std::optional<double> number = NumberOfWord(words[at + 1]);
  if (!number) return;
  const bool is_part = at + 2 < words.size() && words[at + 2].text == "||";  // of a text: LIKE 5 || '%'
  if (!is_part && IsOneOf(words[at], {"LIKE", "GLOB", "REGEXP"}))
    odd.push_back({fmt::format("{} compares texts: a number is compared with =", words[at].word),
                   words[at].start, true});
  if ((words[at].text == "/" || words[at].text == "%") && *number == 0)
    odd.push_back({"divides by 0, which is unknown whatever is divided", words[at].start, true});
}

}  // namespace

std::vector<OddSql> FindOddSql(std::string_view sql, const Database& db) {
  std::vector<OddSql> odd;
  const WordList words = SqlWords(sql);
  for (size_t at = 0; at + 1 < words.size(); ++at) {
    if (words[at].text == ">>" || words[at].text == "<<")
      odd.push_back({fmt::format("{} shifts bits: {} compares", words[at].text, words[at].text.substr(1)),
                     words[at].start});
    FindJoinOfAll(words, at, odd);
    FindFirstOfMany(words, at, db, odd);
    FindComparisonWithItself(words, at, odd);
    FindWildcard(words, at, odd);
    FindPercentile(words, at, odd);
    FindNumberMisused(words, at, odd);
  }
  return odd;
}

std::vector<OddSql> FindScaledTimes(std::string_view sql,
                                    const std::function<bool(std::string_view)>& is_time) {
  std::vector<OddSql> odd;
  const WordList words = SqlWords(sql);
  for (size_t at = 0; at + 2 < words.size(); ++at) {
    const std::optional<double> number = NumberOfWord(words[at + 2]);
    if (!number || !words[at].is_name || !is_time(words[at].text)) continue;
    const double divisor = words[at + 1].text == "/" ? *number : words[at + 1].text == "*" ? 1 / *number : 0;
    for (const auto& [scale, words_of] :
         {std::pair(1e3, "thousand"), std::pair(1e6, "million"), std::pair(1e9, "billion")})
      if (divisor > 0.999 * scale && divisor < 1.001 * scale)
        odd.push_back({fmt::format("makes a time in ns a {} times less and still is taken for ns: leave it "
                                   "out, messages choose ms or s themselves",
                                   words_of),
                       words[at + 1].start});
  }
  return odd;
}

bool IsHundredfold(std::string_view sql) {
  const WordList words = SqlWords(sql);  // the last marks the end
  if (words.size() != 4 || words[1].text != "*") return false;
  const auto is_name = [](const SqlWord& word) {
    return word.is_name || word.kind == SqlToken::Kind::kParameter;
  };
  return (is_name(words[0]) && NumberOfWord(words[2]) == 100) ||
         (is_name(words[2]) && NumberOfWord(words[0]) == 100);
}

}  // namespace dladvisor
