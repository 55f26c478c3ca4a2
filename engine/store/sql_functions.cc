// SPDX-License-Identifier: Apache-2.0
#include "engine/store/sql_functions.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dladvisor {
namespace {

void Ratio(sqlite3_context* context, int, sqlite3_value** argv) {
  const auto number = [](sqlite3_value* v) {
    const int type = sqlite3_value_numeric_type(v);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
  };
  if (!number(argv[0]) || !number(argv[1]) || sqlite3_value_double(argv[1]) == 0)
    return sqlite3_result_null(context);
  sqlite3_result_double(context, sqlite3_value_double(argv[0]) / sqlite3_value_double(argv[1]));
}

// As a blob: as a text it would be copied to end with a zero.
re2::StringPiece TextOf(sqlite3_value* value) {
  const auto* text = static_cast<const char*>(sqlite3_value_blob(value));
  return {text ? text : "", static_cast<size_t>(sqlite3_value_bytes(value))};
}

// Compiles the pattern, or ends the statement with its error.
std::unique_ptr<RE2> Compile(sqlite3_context* context, sqlite3_value* pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto compiled = std::make_unique<RE2>(TextOf(pattern), options);
  if (compiled->ok()) return compiled;
  sqlite3_result_error(context, ("regexp: " + compiled->error()).c_str(), -1);
  return nullptr;
}

// `text REGEXP pattern` calls regexp(pattern, text). RE2 matches in linear time whatever the pattern, but for
// each byte it may visit the whole of a large pattern, so that their product is bounded. The compiled pattern
// is kept for the statement where it is constant.
void Regexp(sqlite3_context* context, int, sqlite3_value** argv) {
  constexpr int64_t kMaxVisits = int64_t{1} << 26;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
    return sqlite3_result_null(context);
  auto* pattern = static_cast<RE2*>(sqlite3_get_auxdata(context, 0));
  std::unique_ptr<RE2> owned;
  if (!pattern) {
    owned = Compile(context, argv[0]);
    pattern = owned.get();
    if (!pattern) return;
  }
  const re2::StringPiece text = TextOf(argv[1]);
  if (static_cast<int64_t>(text.size()) * pattern->ProgramSize() > kMaxVisits)
    return sqlite3_result_error(context, "regexp: the pattern is too large for a text of this length", -1);
  sqlite3_result_int(context, RE2::PartialMatch(text, *pattern) ? 1 : 0);
  if (owned) sqlite3_set_auxdata(context, 0, owned.release(), [](void* p) { delete static_cast<RE2*>(p); });
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// The letters between the two % of a pattern that asks for a part of a text and nothing else; "" of others.
std::string_view PartAskedFor(std::string_view pattern) {
  if (pattern.size() < 3 || pattern.front() != '%' || pattern.back() != '%') return {};
  const std::string_view part = pattern.substr(1, pattern.size() - 2);
  const auto is_plain = [](char c) { return c > 0 && c != '%' && c != '_'; };
  return std::ranges::all_of(part, is_plain) ? part : std::string_view();
}

bool HasPart(std::string_view text, std::string_view part) {
  const char lower = Lower(part[0]),
             upper = lower >= 'a' && lower <= 'z' ? static_cast<char>(lower & ~0x20) : lower;
  for (size_t i = 0; i + part.size() <= text.size(); ++i)
    if ((text[i] == lower || text[i] == upper) &&
        std::equal(part.begin(), part.end(), text.begin() + static_cast<std::ptrdiff_t>(i),
                   [](char a, char b) { return Lower(a) == Lower(b); }))
      return true;
  return false;
}

// `text LIKE pattern` calls like(pattern, text). SQLite's own walks over the text letter by letter for each
// row, of which there may be hundreds of thousands. Texts end at their first zero, as SQLite has it.
void Like(sqlite3_context* context, int, sqlite3_value** argv) {
  const auto* pattern = reinterpret_cast<const char*>(sqlite3_value_text(argv[0]));
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(argv[1]));
  if (!pattern || !text) return;
  const int most = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
  if (sqlite3_value_bytes(argv[0]) > most)
    return sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
  const std::string_view part = PartAskedFor(pattern);
  sqlite3_result_int(context, part.empty() ? sqlite3_strlike(pattern, text, 0) == 0 : HasPart(text, part));
}

}  // namespace

void RegisterFunctions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  sqlite3_create_function_v2(db, "ratio", 2, kFlags, nullptr, Ratio, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(db, "like", 2, kFlags, nullptr, Like, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(db, "regexp", 2, kFlags, nullptr, Regexp, nullptr, nullptr, nullptr);
}

}  // namespace dladvisor
