// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/bad_patterns.h"

#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

// The index of the second argument of the call at `at`, or of the end.
size_t SecondArgument(const std::vector<SqlWord>& words, size_t at) {
  int depth = 0;
  for (++at; at + 1 < words.size(); ++at) {
    if (words[at].text == "(") ++depth;
    if (words[at].text == ")" && --depth == 0) return words.size() - 1;
    if (words[at].text == "," && depth == 1) return at + 1;
  }
  return at;
}

}  // namespace

std::vector<BadPattern> BadPatterns(std::string_view sql, const Database& db,
                                    std::span<const Binding> params) {
  std::vector<BadPattern> bad;
  const std::vector<SqlWord> words = SqlWords(sql);
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const bool extracts = words[i].word == "REGEXP_EXTRACT";
    if (!extracts && words[i].word != "REGEXP") continue;
    const size_t at = extracts ? SecondArgument(words, i) : i + 1;
    const SqlWord& pattern = words[at];
    if (pattern.kind != SqlToken::Kind::kString && pattern.kind != SqlToken::Kind::kParameter) continue;
    if (at + 1 < words.size() && words[at + 1].text == "||") continue;  // a part of it
    try {
      db.Query("SELECT '' REGEXP " + std::string(sql.substr(pattern.start, pattern.size)), params);
    } catch (const SqlError& error) {
      bad.push_back({error.what(), pattern.start});
    }
  }
  return bad;
}

}  // namespace dladvisor
