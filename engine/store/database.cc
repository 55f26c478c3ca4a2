#include "engine/store/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/sqlite.h"
#include "engine/base/text.h"
#include "engine/sql/sql_text.h"
#include "engine/store/heap_budget.h"
#include "engine/store/sandbox.h"
#include "engine/store/sql_functions.h"
#include "engine/store/virtual_table.h"

namespace dladvisor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes kDefaultTimeLimit(2);
// Often, because one step can take long, e.g. joining texts of many bytes.
constexpr int kStepsPerCheck = 100;

using Statement = SqliteStatement;

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Offset of `word` as a whole word in `sql`, or -1.
int FindWord(std::string_view sql, std::string_view word) {
  for (size_t at = sql.find(word); at != std::string_view::npos; at = sql.find(word, at + 1)) {
    const bool starts = at == 0 || !IsWordChar(sql[at - 1]);
    const bool ends = at + word.size() >= sql.size() || !IsWordChar(sql[at + word.size()]);
    if (starts && ends) return static_cast<int>(at);
  }
  return -1;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

Unit UnitByName(std::string_view name) {
  if (name.ends_with("_ns")) return Unit::kNanoseconds;
  if (name.ends_with("_bytes") || name == "bytes") return Unit::kBytes;
  if (name.ends_with("_share")) return Unit::kRatio;
  return Unit::kNone;
}

}  // namespace

struct Database::Impl {
  SqliteDb db;
  RelationMap relations;
  std::vector<const Relation*> order;
  std::vector<std::unique_ptr<const Relation>> owned;
  std::set<std::string, std::less<>> views, modules;
  int64_t max_steps = 500'000'000, max_bytes = int64_t{512} << 20;
  std::chrono::milliseconds time_limit = kDefaultTimeLimit;

  // State of the statement at hand.
  int64_t steps = 0, result_bytes = 0;
  std::set<ColumnRead> reads;
  std::set<std::string> relations_read;
  std::string refusal;
  Clock::time_point deadline;
  bool too_long = false, shared_budget = false;

  void StartCounting() {
    result_bytes = 0;
    if (shared_budget) return;
    steps = 0;
    too_long = false;
    deadline = Clock::now() + time_limit;
  }

  bool MustStop() {
    steps += kStepsPerCheck;
    if (Clock::now() > deadline) too_long = true;
    return too_long || steps > max_steps;
  }

  // Some relations compute their rows when these are first asked for: here, because exceptions must not pass
  // through SQLite and because this is not the statement's own time.
  void ComputeRowsRead() {
    const Clock::time_point start = Clock::now();
    for (const std::string& name : relations_read) relations.find(name)->second->rows();
    deadline += Clock::now() - start;
  }

  void Execute(const std::string& sql) {
    char* error = nullptr;
    if (sqlite3_exec(db.get(), sql.c_str(), nullptr, nullptr, &error) == SQLITE_OK) return;
    const std::string message = error ? error : "unknown error";
    sqlite3_free(error);
    throw SqlError(message, -1);
  }

  // Why a statement ended, where it was for what it takes.
  std::optional<std::string> WhyStopped(int rc) const {
    if (rc == SQLITE_NOMEM)
      return fmt::format("was stopped: it needs more than {} MiB of memory", max_bytes >> 20);
    if (rc != SQLITE_INTERRUPT) return std::nullopt;
    if (too_long)
      return fmt::format("was stopped after {} s: it takes too long",
                         std::chrono::duration<double>(time_limit).count());
    return fmt::format("was stopped after {} million steps: it does too much", max_steps / 1'000'000);
  }

  int Refuse(std::string why) {
    if (refusal.empty()) refusal = std::move(why);
    return SQLITE_DENY;
  }

  // Tables that SQLite brings with it.
  bool IsBuiltIn(std::string_view name) const {
    const std::string lower = Lower(name);
    return lower.starts_with("sqlite_") || lower.starts_with("pragma_") || modules.contains(lower);
  }

  std::vector<std::string> RelationNames() const {
    std::vector<std::string> names(views.begin(), views.end());
    for (const Relation* relation : order) names.push_back(relation->schema().name);
    return names;
  }

  int Authorize(int action, const char* first, const char* second) {
    switch (action) {
      case SQLITE_SELECT:
      case SQLITE_RECURSIVE:
        return SQLITE_OK;
      case SQLITE_READ:
        if (relations.contains(std::string_view(first))) {
          relations_read.insert(first);
          if (second && *second) reads.insert({first, second});
          return SQLITE_OK;
        }
        if (views.contains(std::string_view(first))) return SQLITE_OK;
        // A common table expression whose columns are not read, e.g. in count(*), comes by its name alone.
        if (second && !*second && !IsBuiltIn(first)) return SQLITE_OK;
        return Refuse(fmt::format("no such relation: {}{}", first, DidYouMean(first, RelationNames())));
      case SQLITE_FUNCTION: {
        const auto& allowed = AllowedFunctions();
        const std::string name = Lower(second ? second : "");
        if (std::binary_search(allowed.begin(), allowed.end(), name)) return SQLITE_OK;
        return Refuse(fmt::format("function {} is not allowed{}", name, DidYouMean(name, allowed)));
      }
      default:
        return Refuse("only SELECT over relations is allowed");
    }
  }

  // The message with the nearest known word, and the offset where SQLite did not tell it.
  SqlError Explain(std::string_view sql, std::string message, int offset) const {
    const auto after = [&](std::string_view prefix) -> std::optional<std::string> {
      if (!message.starts_with(prefix)) return std::nullopt;
      return message.substr(prefix.size());
    };
    if (message.ends_with(" may not be modified")) {
      message = "only SELECT over relations is allowed";
    } else if (auto word = after("no such table: ")) {
      if (const size_t dot = word->find('.'); dot != std::string::npos) word = word->substr(dot + 1);
      message = fmt::format("no such relation: {}{}", *word, DidYouMean(*word, RelationNames()));
      if (offset < 0) offset = FindWord(sql, *word);
    } else if (auto column = after("no such column: ")) {
      std::vector<std::string> candidates;
      for (const Relation* relation : order)
        if (FindWord(sql, relation->schema().name) >= 0)
          for (const Column& c : relation->schema().columns) candidates.push_back(c.name);
      const size_t dot = column->rfind('.');
      message += DidYouMean(dot == std::string::npos ? *column : column->substr(dot + 1), candidates);
      if (offset < 0) offset = FindWord(sql, *column);
    } else if (auto function = after("no such function: ")) {
      message += DidYouMean(*function, AllowedFunctions());
      if (offset < 0) offset = FindWord(sql, *function);
    }
    return SqlError(message, offset);
  }

  Statement PrepareStatement(std::string_view sql) {
    reads.clear();
    relations_read.clear();
    refusal.clear();
    StartCounting();
    if (auto why = WhyTooLarge(sql)) throw SqlError(*why, -1);
    sqlite3_set_authorizer(
        db.get(),
        [](void* self, int action, const char* first, const char* second, const char*, const char*) {
          return static_cast<Impl*>(self)->Authorize(action, first, second);
        },
        this);
    sqlite3_stmt* raw = nullptr;
    const char* tail = nullptr;
    const int rc = sqlite3_prepare_v2(db.get(), sql.data(), static_cast<int>(sql.size()), &raw, &tail);
    sqlite3_set_authorizer(db.get(), nullptr, nullptr);
    Statement statement(raw);
    if (!refusal.empty()) {
      // The refused word is the third of "function NAME ..." or follows the colon; place it where it stands.
      int offset = -1;
      for (const std::string_view prefix : {"no such relation: ", "function "})
        if (refusal.starts_with(prefix)) {
          const std::string_view rest = std::string_view(refusal).substr(prefix.size());
          offset = FindWord(sql, rest.substr(0, rest.find(' ')));
        }
      throw SqlError(refusal, offset);
    }
    if (rc == SQLITE_NOMEM) throw SqlError("unfolds to too much: what it names is too large", -1);
    if (rc != SQLITE_OK) throw Explain(sql, sqlite3_errmsg(db.get()), sqlite3_error_offset(db.get()));
    if (!statement) throw SqlError("is empty", 0);
    if (!sqlite3_stmt_readonly(raw) || sqlite3_stmt_isexplain(raw))
      throw SqlError("only SELECT over relations is allowed", 0);
    const std::string_view rest = sql.substr(static_cast<size_t>(tail - sql.data()));
    if (rest.find_first_not_of(" \t\r\n;") != std::string_view::npos)
      throw SqlError("only one statement is allowed", static_cast<int>(tail - sql.data()));
    for (const SqlToken& token : SqlTokens(sql))
      if (token.kind == SqlToken::Kind::kParameter && token.text[0] != ':')
        throw SqlError(fmt::format("{} is no parameter: write :name", token.text),
                       static_cast<int>(token.start));
    return statement;
  }

  void Bind(sqlite3_stmt* statement, std::span<const Binding> bindings) const {
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); ++i) {
      const char* marked = sqlite3_bind_parameter_name(statement, i);
      const std::string_view name = marked && *marked ? std::string_view(marked).substr(1) : "";
      const auto found =
          std::find_if(bindings.begin(), bindings.end(), [&](const Binding& b) { return b.name == name; });
      if (found == bindings.end()) {
        std::vector<std::string> known;
        for (const Binding& b : bindings) known.push_back(b.name);
        throw SqlError(fmt::format("no such parameter: :{}{}", name, DidYouMean(name, known)), -1);
      }
      if (const auto* integer = std::get_if<int64_t>(&found->value))
        sqlite3_bind_int64(statement, i, *integer);
      else if (const auto* real = std::get_if<double>(&found->value))
        sqlite3_bind_double(statement, i, *real);
      else if (const auto* text = std::get_if<std::string>(&found->value))
        sqlite3_bind_text64(statement, i, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
  }

  // The memory that a row of the result takes, with what allocating it adds.
  static int64_t BytesOf(const std::vector<Value>& row) {
    size_t bytes = 3 * sizeof(row) + row.size() * sizeof(Value);
    for (const Value& value : row)
      if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
    return static_cast<int64_t>(bytes);
  }

  std::vector<ResultColumn> Columns(sqlite3_stmt* statement) const {
    std::vector<ResultColumn> columns;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      ResultColumn column{sqlite3_column_name(statement, i), Unit::kNone};
      const char* table = sqlite3_column_table_name(statement, i);
      const char* origin = sqlite3_column_origin_name(statement, i);
      const auto relation = table ? relations.find(std::string_view(table)) : relations.end();
      const auto index =
          relation != relations.end() && origin ? relation->second->schema().Find(origin) : std::nullopt;
      column.unit = index ? relation->second->schema().columns[*index].unit : UnitByName(column.name);
      columns.push_back(std::move(column));
    }
    return columns;
  }

  static Value Read(sqlite3_stmt* statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_INTEGER:
        return sqlite3_column_int64(statement, column);
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, column);
      case SQLITE_TEXT:
      case SQLITE_BLOB: {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
        return std::string(bytes ? bytes : "", static_cast<size_t>(sqlite3_column_bytes(statement, column)));
      }
      default:
        return {};
    }
  }
};

Database::Database() : impl_(std::make_unique<Impl>()) {
  int rc = SQLITE_OK;
  impl_->db = OpenSqlite(rc, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  if (rc != SQLITE_OK) throw std::bad_alloc();
  sqlite3* raw = impl_->db.get();
  sqlite3_exec(
      raw, "SELECT lower(name) FROM pragma_module_list",
      [](void* modules, int, char** values, char**) {
        static_cast<std::set<std::string, std::less<>>*>(modules)->emplace(values[0]);
        return 0;
      },
      &impl_->modules, nullptr);
  Harden(raw);
  RegisterFunctions(raw);
  RegisterRelationModule(raw, &impl_->relations);
  sqlite3_progress_handler(
      raw, kStepsPerCheck, [](void* self) { return static_cast<Impl*>(self)->MustStop() ? 1 : 0; },
      impl_.get());
}

Database::~Database() = default;
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;

void Database::Add(const Relation& relation) {
  const std::string& name = relation.schema().name;
  impl_->StartCounting();
  if (const auto known = impl_->relations.find(name); known != impl_->relations.end()) {
    impl_->Execute("DROP TABLE temp.\"" + name + "\"");
    std::replace(impl_->order.begin(), impl_->order.end(), known->second, &relation);
  } else {
    impl_->order.push_back(&relation);
  }
  impl_->relations[name] = &relation;
  impl_->Execute("CREATE VIRTUAL TABLE temp.\"" + name + "\" USING " + kRelationModule);
}

void Database::Add(std::unique_ptr<const Relation> relation) {
  impl_->owned.push_back(std::move(relation));
  Add(*impl_->owned.back());
}

void Database::AddView(std::string_view name, std::string_view sql) {
  impl_->StartCounting();
  impl_->Execute(fmt::format("CREATE TEMP VIEW \"{}\" AS {}", name, sql));
  impl_->views.emplace(name);
}

void Database::SetStepBudget(int64_t steps) { impl_->max_steps = steps; }
void Database::SetMemoryLimit(int64_t bytes) { impl_->max_bytes = bytes; }
void Database::SetTimeLimit(std::chrono::milliseconds limit) { impl_->time_limit = limit; }

Database::SharedBudget::SharedBudget(const Database& db) : db_(db) {
  db_.impl_->StartCounting();
  db_.impl_->shared_budget = true;
}
Database::SharedBudget::~SharedBudget() { db_.impl_->shared_budget = false; }

std::vector<std::string> Database::Views() const { return {impl_->views.begin(), impl_->views.end()}; }

std::vector<const Schema*> Database::Relations() const {
  std::vector<const Schema*> schemas;
  for (const Relation* relation : impl_->order) schemas.push_back(&relation->schema());
  return schemas;
}

const Schema* Database::FindRelation(std::string_view name) const {
  const auto found = impl_->relations.find(name);
  return found == impl_->relations.end() ? nullptr : &found->second->schema();
}

size_t Database::RowCount(std::string_view relation) const {
  return impl_->relations.find(relation)->second->rows();
}

ResultSet Database::Query(std::string_view sql, std::span<const Binding> bindings, size_t max_rows) const {
  const HeapBudget heap(impl_->max_bytes);
  const Statement statement = impl_->PrepareStatement(sql);
  if (max_rows > 0) impl_->ComputeRowsRead();
  impl_->Bind(statement.get(), bindings);
  ResultSet result{impl_->Columns(statement.get()), {}};
  while (result.rows.size() < max_rows) {
    const int rc = sqlite3_step(statement.get());
    if (rc == SQLITE_DONE) break;
    if (const auto why = rc == SQLITE_ROW ? std::nullopt : impl_->WhyStopped(rc)) throw SqlError(*why, -1);
    if (rc != SQLITE_ROW) throw SqlError(sqlite3_errmsg(impl_->db.get()), -1);
    auto& row = result.rows.emplace_back();
    row.reserve(result.columns.size());
    for (int i = 0; i < static_cast<int>(result.columns.size()); ++i)
      row.push_back(Impl::Read(statement.get(), i));
    impl_->result_bytes += Impl::BytesOf(row);
    if (impl_->result_bytes + heap.used() > impl_->max_bytes)
      throw SqlError(*impl_->WhyStopped(SQLITE_NOMEM), -1);
  }
  return result;
}

SqlReads Database::Prepare(std::string_view sql) const {
  const HeapBudget heap(impl_->max_bytes);
  const Statement statement = impl_->PrepareStatement(sql);
  SqlReads reads{{impl_->reads.begin(), impl_->reads.end()},
                 {impl_->relations_read.begin(), impl_->relations_read.end()},
                 {}};
  for (int i = 1; i <= sqlite3_bind_parameter_count(statement.get()); ++i) {
    const char* name = sqlite3_bind_parameter_name(statement.get(), i);
    reads.parameters.emplace_back(name && *name ? name + 1 : "");
  }
  return reads;
}

}  // namespace dladvisor
