#include "engine/store/sql_functions.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/store/wildcard.h"

namespace dladvisor {
namespace {

bool IsNullValue(sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; }

std::string_view TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {text ? text : "", static_cast<size_t>(sqlite3_value_bytes(value))};
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

int64_t Size(std::string_view text) { return static_cast<int64_t>(text.size()); }

Meter& MeterOf(sqlite3_context* context) { return *static_cast<Meter*>(sqlite3_user_data(context)); }

void ReturnText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Knuth, Morris and Pratt's search: linear whatever the texts.
class Finder {
 public:
  explicit Finder(std::string_view needle) : needle_(needle), border_(needle.size(), 0) {
    for (size_t i = 1, k = 0; i < needle.size(); ++i) {
      while (k > 0 && needle[i] != needle[k]) k = border_[k - 1];
      if (needle[i] == needle[k]) ++k;
      border_[i] = static_cast<uint32_t>(k);
    }
  }

  size_t Find(std::string_view text, size_t from) const {
    for (size_t i = from, k = 0; i < text.size(); ++i) {
      if (k == 0) {
        i = text.find(needle_[0], i);
        if (i == std::string_view::npos) return i;
      }
      while (k > 0 && text[i] != needle_[k]) k = border_[k - 1];
      if (text[i] == needle_[k]) ++k;
      if (k == needle_.size()) return i + 1 - k;
    }
    return std::string_view::npos;
  }

 private:
  std::string_view needle_;
  std::vector<uint32_t> border_;
};

// The compiled pattern of argument 0, kept for the statement where that argument is constant.
template <bool kIsGlob>
const Wildcard* PatternOf(sqlite3_context* context, std::string_view pattern,
                          std::unique_ptr<Wildcard>& owned) {
  if (const auto* kept = static_cast<Wildcard*>(sqlite3_get_auxdata(context, 0))) return kept;
  owned = std::make_unique<Wildcard>(kIsGlob ? Wildcard::Glob(pattern) : Wildcard::Like(pattern, 0));
  return owned.get();
}

// like(pattern, text [, escape]) and glob(pattern, text).
template <bool kIsGlob>
void Match(sqlite3_context* context, int argc, sqlite3_value** argv) {
  if (sqlite3_value_type(argv[0]) == SQLITE_BLOB || sqlite3_value_type(argv[1]) == SQLITE_BLOB)
    return sqlite3_result_int(context, 0);
  const std::string_view pattern = TextOf(argv[0]), text = TextOf(argv[1]);
  const int limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
  if (Size(pattern) > limit) return sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
  std::unique_ptr<Wildcard> owned;
  const Wildcard* wildcard = nullptr;
  if (argc == 3) {
    if (IsNullValue(argv[2])) return;
    const std::string_view escape = TextOf(argv[2]).substr(0, TextOf(argv[2]).find('\0'));
    size_t end = 0;
    const uint32_t c = ReadUtf8(escape, end);
    if (c == 0 || end != escape.size())
      return sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
    owned = std::make_unique<Wildcard>(Wildcard::Like(pattern, c));
    wildcard = owned.get();
  }
  if (IsNullValue(argv[0]) || IsNullValue(argv[1])) return;
  if (!wildcard) wildcard = PatternOf<kIsGlob>(context, pattern, owned);
  int64_t work = owned ? Size(pattern) : 0;
  const std::optional<bool> matches = wildcard->Matches(text, MeterOf(context).WorkLeft(), work);
  if (!Charge(context, work)) return;
  sqlite3_result_int(context, matches.value_or(false) ? 1 : 0);
  if (owned && argc == 2)
    sqlite3_set_auxdata(context, 0, owned.release(), [](void* p) { delete static_cast<Wildcard*>(p); });
}

// The bytes of a blob, or of a value's text.
std::string_view BytesOf(sqlite3_value* value) {
  if (sqlite3_value_type(value) != SQLITE_BLOB) return TextOf(value);
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
  return {bytes ? bytes : "", static_cast<size_t>(sqlite3_value_bytes(value))};
}

// instr(text, part): the character at which the part begins, from 1; bytes where both are blobs.
void Instr(sqlite3_context* context, int, sqlite3_value** argv) {
  if (IsNullValue(argv[0]) || IsNullValue(argv[1])) return;
  const bool blobs = sqlite3_value_type(argv[0]) == SQLITE_BLOB && sqlite3_value_type(argv[1]) == SQLITE_BLOB;
  const std::string_view text = BytesOf(argv[0]), part = BytesOf(argv[1]);
  if (!Charge(context, Size(text) + Size(part))) return;
  if (part.empty()) return sqlite3_result_int(context, 1);
  size_t at = part.size() <= text.size() ? Finder(part).Find(text, 0) : std::string_view::npos;
  // A part that begins within a character is found at the text's very start or nowhere.
  if (!blobs && IsContinuation(part[0]) && at != 0) at = std::string_view::npos;
  if (at == std::string_view::npos) return sqlite3_result_int(context, 0);
  int64_t index = 1;
  for (size_t i = 1; i <= at; ++i) index += blobs || !IsContinuation(text[i]) ? 1 : 0;
  sqlite3_result_int64(context, index);
}

void Replace(sqlite3_context* context, int, sqlite3_value** argv) {
  if (IsNullValue(argv[0]) || IsNullValue(argv[1])) return;
  const std::string_view text = TextOf(argv[0]), part = TextOf(argv[1]);
  if (part.empty() || part[0] == '\0') return sqlite3_result_value(context, argv[0]);
  if (IsNullValue(argv[2])) return;
  const std::string_view with = TextOf(argv[2]);
  if (!Charge(context, Size(text) + Size(part))) return;
  const auto limit =
      static_cast<size_t>(sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1));
  std::string result;
  size_t from = 0;
  if (part.size() <= text.size()) {
    const Finder finder(part);
    for (size_t at = 0; (at = finder.Find(text, from)) != std::string_view::npos; from = at + part.size()) {
      result.append(text, from, at - from).append(with);
      if (result.size() > limit) return sqlite3_result_error_toobig(context);
    }
  }
  result.append(text, from);
  if (result.size() > limit) return sqlite3_result_error_toobig(context);
  if (Charge(context, Size(result))) ReturnText(context, result);
}

// The size of the character at the start, or at the end, of a text.
size_t FirstSize(std::string_view text) {
  size_t n = 1;
  if (static_cast<unsigned char>(text[0]) >= 0xc0)
    while (n < text.size() && IsContinuation(text[n])) ++n;
  return n;
}
size_t LastSize(std::string_view text) {
  size_t n = 1;
  while (n < text.size() && IsContinuation(text[text.size() - n])) ++n;
  return n;
}

std::vector<std::string_view> CharactersOf(std::string_view text) {
  std::vector<std::string_view> characters;
  for (size_t n = 0; !text.empty(); text.remove_prefix(n)) {
    n = FirstSize(text);
    characters.push_back(text.substr(0, n));
  }
  std::sort(characters.begin(), characters.end());
  return characters;
}

// trim, ltrim and rtrim(text [, characters]).
template <bool kLeft, bool kRight>
void Trim(sqlite3_context* context, int argc, sqlite3_value** argv) {
  if (IsNullValue(argv[0]) || (argc == 2 && IsNullValue(argv[1]))) return;
  std::string_view text = TextOf(argv[0]), set = argc == 2 ? TextOf(argv[1]) : " ";
  set = set.substr(0, set.find('\0'));
  if (!Charge(context, Size(text) + 8 * Size(set))) return;
  const std::vector<std::string_view> characters = CharactersOf(set);
  const auto is_trimmed = [&](std::string_view c) {
    return std::binary_search(characters.begin(), characters.end(), c);
  };
  const size_t before = text.size();
  while (kLeft && !text.empty() && is_trimmed(text.substr(0, FirstSize(text))))
    text.remove_prefix(FirstSize(text));
  while (kRight && !text.empty() && is_trimmed(text.substr(text.size() - LastSize(text))))
    text.remove_suffix(LastSize(text));
  // Each character that went was searched for.
  if (Charge(context, 8 * static_cast<int64_t>(before - text.size()))) ReturnText(context, text);
}

struct CloseDb {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};

// A connection that has SQLite's own functions, opened when first needed.
class PlainConnection {
 public:
  explicit PlainConnection(int length) : length_(length) {}
  sqlite3* Get() {
    if (db_) return db_.get();
    sqlite3* raw = nullptr;
    sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    db_.reset(raw);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, length_);
    return raw;
  }

 private:
  int length_;
  std::unique_ptr<sqlite3, CloseDb> db_;
};

// One of SQLite's linear functions: its work is charged, then SQLite does it.
struct Charged {
  Meter* meter;
  std::shared_ptr<PlainConnection> plain;
  std::string name;
  std::vector<std::unique_ptr<sqlite3_stmt, FinalizeStatement>> by_arguments = {};

  sqlite3_stmt* StatementFor(size_t arguments) {
    if (by_arguments.size() <= arguments) by_arguments.resize(arguments + 1);
    auto& statement = by_arguments[arguments];
    if (statement) return statement.get();
    std::string sql = "SELECT \"" + name + "\"(";
    for (size_t i = 0; i < arguments; ++i) sql += i == 0 ? "?" : ", ?";
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v2(plain->Get(), (sql + ")").c_str(), -1, &raw, nullptr);
    statement.reset(raw);
    return raw;
  }
};

void CallCharged(sqlite3_context* context, int argc, sqlite3_value** argv) {
  auto& function = *static_cast<Charged*>(sqlite3_user_data(context));
  int64_t bytes = 0;
  for (int i = 0; i < argc; ++i) {
    const int type = sqlite3_value_type(argv[i]);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) bytes += sqlite3_value_bytes(argv[i]);
  }
  // A character, and more so a JSON token, takes longer than a copied byte.
  if (!Charge(context, *function.meter, 4 * bytes)) return;
  sqlite3_stmt* statement = function.StatementFor(static_cast<size_t>(argc));
  if (!statement) return sqlite3_result_error(context, sqlite3_errmsg(function.plain->Get()), -1);
  for (int i = 0; i < argc; ++i) {
    if (sqlite3_value_type(argv[i]) == SQLITE_TEXT) {
      const std::string_view text = TextOf(argv[i]);
      sqlite3_bind_text64(statement, i + 1, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    } else {
      sqlite3_bind_value(statement, i + 1, argv[i]);
    }
  }
  if (sqlite3_step(statement) == SQLITE_ROW)
    sqlite3_result_value(context, sqlite3_column_value(statement, 0));
  else
    sqlite3_result_error(context, sqlite3_errmsg(function.plain->Get()), -1);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

using ScalarFunction = void (*)(sqlite3_context*, int, sqlite3_value**);

}  // namespace

bool Charge(sqlite3_context* context, Meter& meter, int64_t bytes) {
  if (meter.Work(bytes)) return true;
  sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  return false;
}

bool Charge(sqlite3_context* context, int64_t bytes) { return Charge(context, MeterOf(context), bytes); }

void RegisterFunctions(sqlite3* db, Meter* meter) {
  RegisterRatio(db);
  RegisterRegexp(db, meter);
  RegisterGroupConcat(db, meter);
  const auto add = [&](const char* name, int arguments, ScalarFunction function) {
    sqlite3_create_function_v2(db, name, arguments, kFunctionFlags, meter, function, nullptr, nullptr,
                               nullptr);
  };
  add("like", 2, Match<false>);
  add("like", 3, Match<false>);
  add("glob", 2, Match<true>);
  add("instr", 2, Instr);
  add("replace", 3, Replace);
  for (const int arguments : {1, 2}) {
    add("trim", arguments, Trim<true, true>);
    add("ltrim", arguments, Trim<true, false>);
    add("rtrim", arguments, Trim<false, true>);
  }
  const auto plain = std::make_shared<PlainConnection>(sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1));
  const std::pair<const char*, int> charged[] = {
      {"length", 1},    {"lower", 1},     {"upper", 1},         {"unicode", 1}, {"substr", 2}, {"substr", 3},
      {"substring", 2}, {"substring", 3}, {"json_extract", -1}, {"->", 2},      {"->>", 2}};
  for (const auto& [name, arguments] : charged)
    sqlite3_create_function_v2(db, name, arguments, kFunctionFlags, new Charged{meter, plain, name},
                               CallCharged, nullptr, nullptr,
                               [](void* p) { delete static_cast<Charged*>(p); });
}

}  // namespace dladvisor
