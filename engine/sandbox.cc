#include "engine/sandbox.h"

#include <re2/re2.h>

#include <memory>
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

std::string_view TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {text ? text : "", static_cast<size_t>(sqlite3_value_bytes(value))};
}

// `text REGEXP pattern` calls regexp(pattern, text). RE2 matches in linear time whatever the pattern; the
// compiled pattern is kept for the statement where it is constant.
void Regexp(sqlite3_context* context, int, sqlite3_value** argv) {
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
    return sqlite3_result_null(context);
  auto* pattern = static_cast<RE2*>(sqlite3_get_auxdata(context, 0));
  std::unique_ptr<RE2> owned;
  if (!pattern) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(1 << 20);
    owned = std::make_unique<RE2>(re2::StringPiece(TextOf(argv[0]).data(), TextOf(argv[0]).size()), options);
    pattern = owned.get();
    if (!pattern->ok()) {
      const std::string message = "regexp: " + pattern->error();
      return sqlite3_result_error(context, message.c_str(), -1);
    }
  }
  const std::string_view text = TextOf(argv[1]);
  sqlite3_result_int(context,
                     RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *pattern) ? 1 : 0);
  if (owned) sqlite3_set_auxdata(context, 0, owned.release(), [](void* p) { delete static_cast<RE2*>(p); });
}

}  // namespace

const std::vector<std::string>& AllowedFunctions() {
  static const std::vector<std::string> functions = {
      "abs",    "avg",          "ceil",  "char",   "coalesce",     "count",  "cume_dist", "dense_rank",
      "exp",    "first_value",  "floor", "glob",   "group_concat", "ifnull", "iif",       "instr",
      "lag",    "last_value",   "lead",  "length", "like",         "ln",     "log",       "log10",
      "log2",   "lower",        "ltrim", "max",    "min",          "mod",    "nth_value", "ntile",
      "nullif", "percent_rank", "pow",   "power",  "rank",         "ratio",  "regexp",    "replace",
      "round",  "row_number",   "rtrim", "sign",   "sqrt",         "substr", "substring", "sum",
      "total",  "trim",         "trunc", "typeof", "unicode",      "upper"};
  return functions;
}

void RegisterFunctions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  sqlite3_create_function_v2(db, "ratio", 2, kFlags, nullptr, Ratio, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(db, "regexp", 2, kFlags, nullptr, Regexp, nullptr, nullptr, nullptr);
}

void Harden(sqlite3* db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1'000'000);
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 200'000);
  sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 200);
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
