// SPDX-License-Identifier: Apache-2.0
#include "engine/store/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/base/cancellation.h"
#include "engine/base/sqlite.h"
#include "engine/base/text.h"
#include "engine/sql/sql_text.h"
#include "engine/store/authorizer.h"
#include "engine/store/heap_budget.h"
#include "engine/store/sandbox.h"
#include "engine/store/sql_functions.h"
#include "engine/store/statement_budget.h"
#include "engine/store/virtual_table.h"

namespace dladvisor {
namespace {

// SQLite makes an index for a join over what it has copied, but not over relations, which it reads in place.
constexpr const char* kHowToDoLess =
    "Select fewer rows. A join of events is fast over a copy of one of them, which gets an index: WITH a AS "
    "MATERIALIZED (SELECT ...).";

Unit UnitByName(std::string_view name) {
  if (name.ends_with("_ns")) return Unit::kNanoseconds;
  if (name.ends_with("_bytes") || name == "bytes") return Unit::kBytes;
  // idle_share, share_of_kernel_time
  if (name.ends_with("_share") || name.starts_with("share_") || name.find("_share_") != name.npos)
    return Unit::kRatio;
  return Unit::kNone;
}

}  // namespace

struct Database::Impl {
  Catalog catalog;
  RelationModule module{catalog.by_name(), [this](const Relation& relation) { ComputeRows(relation); }};
  SqliteDb db;
  std::vector<std::unique_ptr<const Relation>> owned;
  std::optional<Authorizer> authorizer;
  StatementBudget budget;
  std::vector<std::pair<std::string, std::string>> views_to_come;  // name and SQL
  double all_rows = 0;  // of all relations, as far as that is known without computing them

  struct IndexesOfStatement {
    RelationModule& module;
    ~IndexesOfStatement() { module.ForgetIndexes(); }
  };

  // Some relations compute their rows when these are first asked for, which is not the time of the statement,
  // or of the several that share a budget.
  size_t ComputeRows(const Relation& relation) {
    const auto start = StatementBudget::Now();
    const size_t rows = relation.rows();
    budget.Extend(StatementBudget::Now() - start);
    return rows;
  }

  void Execute(const std::string& sql) {
    char* error = nullptr;
    if (sqlite3_exec(db.get(), sql.c_str(), nullptr, nullptr, &error) == SQLITE_OK) return;
    const std::string message = error ? error : "unknown error";
    sqlite3_free(error);
    throw SqlError(message, -1);
  }

  // Few statements name a view, and to make all views takes longer than to judge a tenth of all rules.
  void MakeViews() {
    for (const auto& [name, view] : std::exchange(views_to_come, {}))
      Execute(fmt::format("CREATE TEMP VIEW {} AS {}", QuotedName(name), view));
  }

  SqliteStatement PrepareStatement(std::string_view sql, bool notes_reads = false) {
    budget.Begin();
    if (auto why = WhyTooLarge(sql)) throw SqlError(*why, -1);
    sqlite3_stmt* raw = nullptr;
    const char* tail = nullptr;
    const auto prepare = [&] {
      authorizer->Begin(notes_reads);
      const int rc = sqlite3_prepare_v2(db.get(), sql.data(), static_cast<int>(sql.size()), &raw, &tail);
      authorizer->End();
      return rc;
    };
    int rc = prepare();
    if (rc != SQLITE_OK && !views_to_come.empty()) {
      MakeViews();
      rc = prepare();
    }
    SqliteStatement statement(raw);
    if (const auto refusal = authorizer->Refusal(sql)) throw SqlError(*refusal);
    if (rc == SQLITE_NOMEM) throw SqlError("unfolds to too much: what it names is too large", -1);
    if (rc != SQLITE_OK)
      throw ExplainSqlError(sql, sqlite3_errmsg(db.get()), sqlite3_error_offset(db.get()), catalog);
    if (!statement) throw SqlError("is empty", 0);
    if (!sqlite3_stmt_readonly(raw) || sqlite3_stmt_isexplain(raw)) throw SqlError(kOnlySelect, 0);
    const std::string_view rest = sql.substr(static_cast<size_t>(tail - sql.data()));
    if (rest.find_first_not_of(" \t\r\n;") != std::string_view::npos)
      throw SqlError("only one statement is allowed", static_cast<int>(tail - sql.data()));
    CheckParameters(raw, sql);
    return statement;
  }

  static void CheckParameters(sqlite3_stmt* statement, std::string_view sql) {
    const auto is_named = [&](int i) {
      const char* name = sqlite3_bind_parameter_name(statement, i);
      return name && *name == ':';
    };
    int named = 0;
    const int count = sqlite3_bind_parameter_count(statement);
    while (named < count && is_named(named + 1)) ++named;
    if (named == count) return;
    for (const SqlToken& token : SqlTokens(sql))
      if (token.kind == SqlToken::Kind::kParameter && token.text[0] != ':')
        throw SqlError(fmt::format("{} is not a parameter: write :name", token.text),
                       static_cast<int>(token.start));
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
      const Relation* relation = table ? catalog.Find(table) : nullptr;
      const auto index = relation && origin ? relation->schema().Find(origin) : std::nullopt;
      column.unit = index ? relation->schema().columns[*index].unit : UnitByName(column.name);
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
  impl_->db = OpenSqlite(rc);
  if (rc != SQLITE_OK) throw std::bad_alloc();
  sqlite3* raw = impl_->db.get();
  // Preparing a statement takes thousands of small pieces of memory: from here without a call of malloc.
  constexpr int kPieceBytes = 1200, kPieces = 500;
  sqlite3_db_config(raw, SQLITE_DBCONFIG_LOOKASIDE, nullptr, kPieceBytes, kPieces);
  impl_->authorizer.emplace(raw, impl_->catalog, impl_->module);
  Harden(raw);
  RegisterFunctions(raw);
  impl_->budget.Watch(raw);
}

Database::~Database() = default;
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;

void Database::Add(const Relation& relation) {
  const RowEstimate estimate = relation.EstimatedRows();
  if (estimate.is_exact || estimate.rows != RowEstimate().rows) impl_->all_rows += estimate.rows;
  impl_->budget.ScaleTo(static_cast<size_t>(impl_->all_rows));
  impl_->catalog.Add(relation);
  if (impl_->module.Register(impl_->db.get(), relation.schema().name) != SQLITE_OK) throw std::bad_alloc();
}

void Database::Add(std::unique_ptr<const Relation> relation) {
  impl_->owned.push_back(std::move(relation));
  Add(*impl_->owned.back());
}

void Database::AddView(std::string_view name, std::string_view sql) {
  impl_->views_to_come.emplace_back(name, sql);
  impl_->catalog.AddView(name);
}

void Database::SetStepBudget(int64_t steps) { impl_->budget.max_steps = steps; }
void Database::SetMemoryLimit(int64_t bytes) { impl_->budget.max_bytes = bytes; }
void Database::SetTimeLimit(std::chrono::milliseconds limit) { impl_->budget.max_time = limit; }

Database::SharedBudget::SharedBudget(const Database& db) : db_(db) {
  db_.impl_->budget.Begin();
  db_.impl_->budget.Share(true);
}
Database::SharedBudget::~SharedBudget() { db_.impl_->budget.Share(false); }

std::vector<std::string> Database::Views() const {
  const auto& views = impl_->catalog.views();
  return {views.begin(), views.end()};
}

std::vector<const Schema*> Database::Relations() const {
  std::vector<const Schema*> schemas;
  for (const Relation* relation : impl_->catalog.relations()) schemas.push_back(&relation->schema());
  return schemas;
}

const Schema* Database::FindRelation(std::string_view name) const {
  const Relation* relation = impl_->catalog.Find(name);
  return relation ? &relation->schema() : nullptr;
}

size_t Database::RowCount(std::string_view relation) const {
  return impl_->ComputeRows(*impl_->catalog.Find(relation));
}

const Relation* Database::FindRows(std::string_view name) const {
  const Relation* relation = impl_->catalog.Find(name);
  if (relation) impl_->ComputeRows(*relation);
  return relation;
}

ResultSet Database::Query(std::string_view sql, std::span<const Binding> bindings, size_t max_rows) const {
  ThrowIfCancelled();
  if (const auto why = impl_->budget.WhyUsedUp()) throw SqlError(*why, -1, kHowToDoLess);
  const HeapBudget heap(impl_->budget.max_bytes);
  const Impl::IndexesOfStatement indexes{impl_->module};
  const SqliteStatement statement = impl_->PrepareStatement(sql);
  impl_->Bind(statement.get(), bindings);
  ResultSet result{impl_->Columns(statement.get()), {}};
  int64_t result_bytes = 0;
  while (result.rows.size() < max_rows) {
    const int rc = sqlite3_step(statement.get());
    if (rc == SQLITE_DONE) break;
    impl_->module.ThrowFailure();
    if (const auto why = impl_->budget.WhyStopped(rc)) throw SqlError(*why, -1, kHowToDoLess);
    if (rc != SQLITE_ROW) throw SqlError(sqlite3_errmsg(impl_->db.get()), -1);
    auto& row = result.rows.emplace_back();
    row.reserve(result.columns.size());
    for (int i = 0; i < static_cast<int>(result.columns.size()); ++i)
      row.push_back(Impl::Read(statement.get(), i));
    result_bytes += Impl::BytesOf(row);
    if (result_bytes + heap.used() > impl_->budget.max_bytes)
      throw SqlError(*impl_->budget.WhyStopped(SQLITE_NOMEM), -1, kHowToDoLess);
  }
  return result;
}

SqlReads Database::Prepare(std::string_view sql) const {
  const HeapBudget heap(impl_->budget.max_bytes);
  const SqliteStatement statement = impl_->PrepareStatement(sql, /*notes_reads=*/true);
  const auto& [columns, relations] = std::tie(impl_->authorizer->columns(), impl_->authorizer->relations());
  SqlReads reads{{columns.begin(), columns.end()}, {relations.begin(), relations.end()}, {}};
  for (int i = 1; i <= sqlite3_bind_parameter_count(statement.get()); ++i) {
    const char* name = sqlite3_bind_parameter_name(statement.get(), i);
    reads.parameters.emplace_back(name && *name ? name + 1 : "");
  }
  return reads;
}

}  // namespace dladvisor
