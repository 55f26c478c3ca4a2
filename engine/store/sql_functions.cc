// SPDX-License-Identifier: Apache-2.0
#include "engine/store/sql_functions.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/store/lookup_table.h"
#include "engine/store/text_match.h"

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

void Fail(sqlite3_context* context, const std::string& why) {
  sqlite3_result_error(context, why.c_str(), -1);
}

// Compiles the pattern, or ends the statement with its error.
std::unique_ptr<RE2> Compile(sqlite3_context* context, sqlite3_value* pattern) {
  constexpr int kMaxBytes = 4000;
  constexpr int kMaxInstructions = 4000;  // each of which matching may visit for each byte of a text
  const re2::StringPiece text = TextOf(pattern);
  if (text.size() > kMaxBytes) {
    Fail(context, fmt::format("regexp: the pattern has more than {} bytes", kMaxBytes));
    return nullptr;
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto compiled = std::make_unique<RE2>(text, options);
  if (!compiled->ok()) {
    Fail(context, "regexp: " + compiled->error());
  } else if (compiled->ProgramSize() > kMaxInstructions) {
    Fail(context, fmt::format("regexp: the pattern becomes {} instructions, more than {}: repeat less",
                              compiled->ProgramSize(), kMaxInstructions));
  } else {
    return compiled;
  }
  return nullptr;
}

// The pattern of a call, which is kept for the statement where it is constant; null where it is wrong.
class Pattern {
 public:
  Pattern(sqlite3_context* context, sqlite3_value* pattern, int argument)
      : context_(context),
        argument_(argument),
        kept_(static_cast<RE2*>(sqlite3_get_auxdata(context, argument))) {
    if (!kept_) own_ = Compile(context, pattern);
  }
  ~Pattern() {
    if (own_)
      sqlite3_set_auxdata(context_, argument_, own_.release(), [](void* p) { delete static_cast<RE2*>(p); });
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  const RE2* get() const { return kept_ ? kept_ : own_.get(); }

  // RE2 matches in linear time whatever the pattern, but for each byte it may visit the whole of it.
  bool IsTooLargeFor(const re2::StringPiece& text) const {
    constexpr int64_t kMaxVisits = int64_t{1} << 26;
    if (static_cast<int64_t>(text.size()) * get()->ProgramSize() <= kMaxVisits) return false;
    Fail(context_, "regexp: the pattern is too large for a text of this length");
    return true;
  }

 private:
  sqlite3_context* context_;
  int argument_;
  RE2* kept_;
  std::unique_ptr<RE2> own_;
};

bool AnyIsNull(int count, sqlite3_value** argv) {
  return std::any_of(argv, argv + count,
                     [](sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; });
}

// `text REGEXP pattern` calls regexp(pattern, text).
void Regexp(sqlite3_context* context, int count, sqlite3_value** argv) {
  if (AnyIsNull(count, argv)) return sqlite3_result_null(context);
  const Pattern pattern(context, argv[0], 0);
  const re2::StringPiece text = TextOf(argv[1]);
  if (!pattern.get() || pattern.IsTooLargeFor(text)) return;
  sqlite3_result_int(context, RE2::PartialMatch(text, *pattern.get()) ? 1 : 0);
}

// regexp_extract(text, pattern[, group]): the group, 1 where there is one and else the whole match, of the
// first match; NULL where nothing matches.
void RegexpExtract(sqlite3_context* context, int count, sqlite3_value** argv) {
  if (AnyIsNull(count, argv)) return sqlite3_result_null(context);
  const Pattern pattern(context, argv[1], 1);
  const re2::StringPiece text = TextOf(argv[0]);
  if (!pattern.get() || pattern.IsTooLargeFor(text)) return;
  const int groups = pattern.get()->NumberOfCapturingGroups();
  const int64_t group = count > 2 ? sqlite3_value_int64(argv[2]) : std::min(groups, 1);
  if (group < 0 || group > groups)
    return Fail(context,
                fmt::format("regexp_extract: the pattern has {} groups, and no group {}", groups, group));
  std::vector<re2::StringPiece> found(static_cast<size_t>(group) + 1);
  if (!pattern.get()->Match(text, 0, text.size(), RE2::UNANCHORED, found.data(),
                            static_cast<int>(found.size())) ||
      found.back().data() == nullptr)
    return sqlite3_result_null(context);
  sqlite3_result_text(context, found.back().data(), static_cast<int>(found.back().size()), SQLITE_TRANSIENT);
}

// lookup(:table, name): the number of the first pattern that fits; NULL where none does.
void Lookup(sqlite3_context* context, int count, sqlite3_value** argv) {
  if (AnyIsNull(count, argv)) return sqlite3_result_null(context);
  const auto* table = static_cast<const LookupTable*>(sqlite3_get_auxdata(context, 0));
  std::optional<LookupTable> parsed;
  if (!table) {
    parsed = LookupTable::Parse(std::string_view(TextOf(argv[0]).data(), TextOf(argv[0]).size()));
    if (!parsed) return Fail(context, "lookup: the first argument is no param with a table");
    table = &*parsed;
  }
  const re2::StringPiece name = TextOf(argv[1]);
  if (const auto number = table->Find(std::string(name.data(), name.size())))
    sqlite3_result_double(context, *number);
  if (parsed)  // is kept for the statement, where the table is constant
    sqlite3_set_auxdata(context, 0, new LookupTable(std::move(*parsed)),
                        [](void* kept) { delete static_cast<LookupTable*>(kept); });
}

// The numbers that median and percentile see, in memory of SQLite, which is bounded.
struct Numbers {
  double* values;
  sqlite3_int64 count, capacity;
  double share;  // of them below the result
};

void Collect(sqlite3_context* context, sqlite3_value* value, double share) {
  auto* numbers = static_cast<Numbers*>(sqlite3_aggregate_context(context, sizeof(Numbers)));
  if (!numbers) return sqlite3_result_error_nomem(context);
  numbers->share = share;
  const int type = sqlite3_value_numeric_type(value);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  if (numbers->count == numbers->capacity) {
    const sqlite3_int64 capacity = std::max<sqlite3_int64>(64, 2 * numbers->capacity);
    auto* grown = static_cast<double*>(
        sqlite3_realloc64(numbers->values, static_cast<sqlite3_uint64>(capacity) * sizeof(double)));
    if (!grown) return sqlite3_result_error_nomem(context);
    numbers->values = grown;
    numbers->capacity = capacity;
  }
  numbers->values[numbers->count++] = sqlite3_value_double(value);
}

void MedianStep(sqlite3_context* context, int, sqlite3_value** argv) { Collect(context, argv[0], 0.5); }

void PercentileStep(sqlite3_context* context, int, sqlite3_value** argv) {
  const double percent = sqlite3_value_double(argv[1]);
  const int type = sqlite3_value_numeric_type(argv[1]);
  if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !(percent >= 0 && percent <= 100))
    return Fail(context, "percentile: the second argument is a number from 0 to 100");
  Collect(context, argv[0], percent / 100);
}

// Between two numbers linearly, as SQLite's percentile extension and numpy do.
void QuantileFinal(sqlite3_context* context) {
  auto* numbers = static_cast<Numbers*>(sqlite3_aggregate_context(context, 0));
  if (!numbers || numbers->count == 0) {
    if (numbers) sqlite3_free(numbers->values);
    return sqlite3_result_null(context);
  }
  const std::span<double> values(numbers->values, static_cast<size_t>(numbers->count));
  const double at = numbers->share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(below), values.end());
  double result = values[below];
  if (below + 1 < values.size() && at > static_cast<double>(below))
    result +=
        (at - static_cast<double>(below)) *
        (*std::min_element(values.begin() + static_cast<std::ptrdiff_t>(below) + 1, values.end()) - result);
  sqlite3_free(numbers->values);
  sqlite3_result_double(context, result);
}

// `text LIKE pattern` calls like(pattern, text). SQLite's own walks over the text letter by letter for each
// row, of which there may be hundreds of thousands. Texts end at their first zero, as SQLite has it.
void Like(sqlite3_context* context, int, sqlite3_value** argv) {
  const auto* pattern = reinterpret_cast<const char*>(sqlite3_value_text(argv[0]));
  if (!pattern) return;
  const int most = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
  if (sqlite3_value_bytes(argv[0]) > most)
    return sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
  const std::string_view part = PartAskedFor(pattern);
  if (!part.empty() && sqlite3_value_type(argv[1]) == SQLITE_TEXT) {
    const re2::StringPiece text = TextOf(argv[1]);
    const std::string_view whole(text.data(), text.size());
    return sqlite3_result_int(context, HasPart(whole.substr(0, whole.find('\0')), part));
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(argv[1]));
  if (!text) return;
  sqlite3_result_int(context, part.empty() ? sqlite3_strlike(pattern, text, 0) == 0 : HasPart(text, part));
}

}  // namespace

void RegisterFunctions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  sqlite3_create_function_v2(db, "ratio", 2, kFlags, nullptr, Ratio, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(db, "like", 2, kFlags, nullptr, Like, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(db, "regexp", 2, kFlags, nullptr, Regexp, nullptr, nullptr, nullptr);
  for (const int arguments : {2, 3})
    sqlite3_create_function_v2(db, "regexp_extract", arguments, kFlags, nullptr, RegexpExtract, nullptr,
                               nullptr, nullptr);
  sqlite3_create_function_v2(db, "lookup", 2, kFlags, nullptr, Lookup, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(db, "median", 1, kFlags, nullptr, nullptr, MedianStep, QuantileFinal, nullptr);
  sqlite3_create_function_v2(db, "percentile", 2, kFlags, nullptr, nullptr, PercentileStep, QuantileFinal,
                             nullptr);
}

}  // namespace dladvisor
