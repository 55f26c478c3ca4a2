// ratio, regexp, and group_concat over windows.
#include <re2/re2.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "engine/store/sql_functions.h"

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

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// Compiles the pattern, or ends the statement with its error.
std::unique_ptr<RE2> Compile(sqlite3_context* context, std::string_view pattern) {
  constexpr int64_t kWorkPerByte = 1000, kWorkPerInstruction = 200;
  if (!Charge(context, kWorkPerByte * static_cast<int64_t>(pattern.size()))) return nullptr;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto compiled = std::make_unique<RE2>(Piece(pattern), options);
  if (!compiled->ok()) {
    const std::string message = "regexp: " + compiled->error();
    sqlite3_result_error(context, message.c_str(), -1);
    return nullptr;
  }
  if (!Charge(context, kWorkPerInstruction * compiled->ProgramSize())) return nullptr;
  return compiled;
}

// `text REGEXP pattern` calls regexp(pattern, text). RE2 matches in linear time whatever the pattern, but for
// each byte it may visit the whole of a large pattern, so that their product is bounded. The compiled pattern
// is kept for the statement where it is constant.
void Regexp(sqlite3_context* context, int, sqlite3_value** argv) {
  constexpr int64_t kMaxVisits = int64_t{1} << 26, kVisitsPerByte = 16;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
    return sqlite3_result_null(context);
  auto* pattern = static_cast<RE2*>(sqlite3_get_auxdata(context, 0));
  std::unique_ptr<RE2> owned;
  if (!pattern) {
    owned = Compile(context, TextOf(argv[0]));
    pattern = owned.get();
    if (!pattern) return;
  }
  const std::string_view text = TextOf(argv[1]);
  const auto size = static_cast<int64_t>(text.size());
  const int64_t visits = size * pattern->ProgramSize();
  if (visits > kMaxVisits)
    return sqlite3_result_error(context, "regexp: the pattern is too large for a text of this length", -1);
  if (!Charge(context, size + visits / kVisitsPerByte)) return;
  sqlite3_result_int(context, RE2::PartialMatch(Piece(text), *pattern) ? 1 : 0);
  if (owned) sqlite3_set_auxdata(context, 0, owned.release(), [](void* p) { delete static_cast<RE2*>(p); });
}

// The values of a group or window, joined. SQLite's own copies all of them for every row of a window, unpaid.
struct Joined {
  struct Item {
    size_t separator, value;  // sizes
  };
  std::string text;
  size_t start = 0;  // what lies before has left the window
  std::deque<Item> items;

  std::string_view View() const { return std::string_view(text).substr(start); }

  void Push(std::string_view separator, std::string_view value) {
    if (items.empty()) separator = {};
    text.append(separator).append(value);
    items.push_back({separator.size(), value.size()});
  }

  void Pop() {
    if (items.empty()) return;
    start += items.front().value;
    items.pop_front();
    if (items.empty()) {
      text.clear();
      start = 0;
      return;
    }
    start += items.front().separator;
    items.front().separator = 0;
    if (start * 2 > text.size()) {
      text.erase(0, start);
      start = 0;
    }
  }
};

Joined** JoinedOf(sqlite3_context* context, bool create) {
  return static_cast<Joined**>(sqlite3_aggregate_context(context, create ? sizeof(Joined*) : 0));
}

void JoinStep(sqlite3_context* context, int argc, sqlite3_value** argv) {
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
  Joined** joined = JoinedOf(context, true);
  if (!joined) return sqlite3_result_error_nomem(context);
  if (!*joined) *joined = new Joined;
  const std::string_view separator = argc == 2 ? TextOf(argv[1]) : ",", value = TextOf(argv[0]);
  if (!Charge(context, static_cast<int64_t>(separator.size() + value.size()))) return;
  (*joined)->Push(separator, value);
  const int limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  if ((*joined)->View().size() > static_cast<size_t>(limit)) sqlite3_result_error_toobig(context);
}

void JoinInverse(sqlite3_context* context, int, sqlite3_value** argv) {
  Joined** joined = JoinedOf(context, false);
  if (joined && *joined && sqlite3_value_type(argv[0]) != SQLITE_NULL) (*joined)->Pop();
}

void JoinValue(sqlite3_context* context) {
  Joined** joined = JoinedOf(context, false);
  if (!joined || !*joined || (*joined)->items.empty()) return;
  const std::string_view text = (*joined)->View();
  if (Charge(context, static_cast<int64_t>(text.size())))
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void JoinFinal(sqlite3_context* context) {
  JoinValue(context);
  Joined** joined = JoinedOf(context, false);
  if (!joined) return;
  delete *joined;
  *joined = nullptr;
}

}  // namespace

void RegisterRatio(sqlite3* db) {
  sqlite3_create_function_v2(db, "ratio", 2, kFunctionFlags, nullptr, Ratio, nullptr, nullptr, nullptr);
}

void RegisterRegexp(sqlite3* db, Meter* meter) {
  sqlite3_create_function_v2(db, "regexp", 2, kFunctionFlags, meter, Regexp, nullptr, nullptr, nullptr);
}

void RegisterGroupConcat(sqlite3* db, Meter* meter) {
  for (const int arguments : {1, 2})
    sqlite3_create_window_function(db, "group_concat", arguments, kFunctionFlags, meter, JoinStep, JoinFinal,
                                   JoinValue, JoinInverse, nullptr);
}

}  // namespace dladvisor
