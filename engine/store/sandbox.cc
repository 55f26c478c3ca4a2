// SPDX-License-Identifier: Apache-2.0
#include "engine/store/sandbox.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/sql/sql_text.h"

namespace dladvisor {

const std::vector<std::string>& AllowedFunctions() {
  static const std::vector<std::string> functions = {"->",           "->>",
                                                     "abs",          "avg",
                                                     "ceil",         "char",
                                                     "coalesce",     "count",
                                                     "cume_dist",    "dense_rank",
                                                     "exp",          "first_value",
                                                     "floor",        "glob",
                                                     "group_concat", "ifnull",
                                                     "iif",          "instr",
                                                     "json_extract", "lag",
                                                     "last_value",   "lead",
                                                     "length",       "like",
                                                     "ln",           "log",
                                                     "log10",        "log2",
                                                     "lookup",       "lower",
                                                     "ltrim",        "max",
                                                     "median",       "min",
                                                     "mod",          "nth_value",
                                                     "ntile",        "nullif",
                                                     "percent_rank", "percentile",
                                                     "pow",          "power",
                                                     "rank",         "ratio",
                                                     "regexp",       "regexp_extract",
                                                     "replace",      "round",
                                                     "row_number",   "rtrim",
                                                     "sign",         "sqrt",
                                                     "substr",       "substring",
                                                     "sum",          "total",
                                                     "trim",         "trunc",
                                                     "typeof",       "unicode",
                                                     "upper"};
  return functions;
}

std::optional<std::string> WhyTooLarge(std::string_view sql) {
  constexpr std::string_view kSelect = "select";
  constexpr int kMaxSelects = 100;
  const auto is_same = [](char a, char b) { return (a | 0x20) == b; };
  // Within names and texts, too: what has few of them needs no closer look.
  int letters = 0;
  for (auto at = sql.begin();; at += kSelect.size(), ++letters)
    if (at = std::search(at, sql.end(), kSelect.begin(), kSelect.end(), is_same); at == sql.end()) break;
  if (letters <= kMaxSelects) return std::nullopt;
  int selects = 0;
  for (const SqlToken& token : SqlTokens(sql))
    if (token.kind == SqlToken::Kind::kWord &&
        std::equal(token.text.begin(), token.text.end(), kSelect.begin(), kSelect.end(), is_same))
      ++selects;
  if (selects <= kMaxSelects) return std::nullopt;
  return fmt::format("has {} SELECTs, more than {}", selects, kMaxSelects);
}

void Harden(sqlite3* db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_exec(db, "PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 250'000);
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 200'000);
  sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);
  sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 50);
  sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 100'000);
  sqlite3_limit(db, SQLITE_LIMIT_FUNCTION_ARG, 32);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, 1000);
  sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
}

}  // namespace dladvisor
