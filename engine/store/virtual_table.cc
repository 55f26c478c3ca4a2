// SPDX-License-Identifier: Apache-2.0
#include "engine/store/virtual_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/sqlite.h"
#include "engine/store/cell_test.h"
#include "engine/store/equal_index.h"
#include "engine/store/row_order.h"
#include "engine/store/scan_plan.h"
#include "engine/store/text_filter.h"

namespace dladvisor {
namespace {

// Rows from which on, and of how many different texts for each at most, those are tested before SQLite sees
// the rows.
constexpr size_t kTextRows = 1000, kTextsPerRow = 4;
// Such scans in a statement: SQLite sees nothing of the time that they take.
constexpr size_t kMostTextScans = 16;
// Look-ups before an index is made: to make it takes longer than to search all rows once.
constexpr size_t kSearchesBeforeIndex = 2;

struct TableVtab : sqlite3_vtab {
  const Relation* relation;
  RowEstimate estimate;
  RelationModule* module;
  bool is_computed = false;
  // By columns, for the statement at hand.
  struct Lookups {
    size_t count = 0;
    std::optional<EqualIndex> index;
  };
  std::map<std::vector<size_t>, Lookups> lookups;
  size_t text_scans = 0;  // with tests of texts, in the statement at hand
};

struct Cursor : sqlite3_vtab_cursor {
  TableVtab* table;
  const Relation* relation;
  size_t row, end;  // of those that are not in `order`
  std::vector<EqualTo> equal;
  std::deque<std::string> texts;  // of `equal`
  std::vector<CellTest> tests;
  std::vector<TextFilter> text_filters;
  const EqualIndex* index;  // or null
  std::optional<RowOrder> order;
};

const char* SqlType(Type type) {
  switch (type) {
    case Type::kInteger:
      return "INTEGER";
    case Type::kReal:
      return "REAL";
    case Type::kText:
      return "TEXT";
  }
  return "";
}

int Connect(sqlite3* db, void* aux, int, const char* const* argv, sqlite3_vtab** out, char** error) {
  auto* module = static_cast<RelationModule*>(aux);
  const auto found = module->relations().find(std::string_view(argv[2]));
  if (found == module->relations().end()) {
    *error = sqlite3_mprintf("no such relation: %s", argv[2]);
    return SQLITE_ERROR;
  }
  std::string declaration = "CREATE TABLE x(";
  const Schema& schema = found->second->schema();
  for (size_t i = 0; i < schema.columns.size(); ++i)
    declaration += fmt::format("{}{} {}", i ? ", " : "", QuotedName(schema.columns[i].name),
                               SqlType(schema.columns[i].type));
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  if (const int rc = module->Declare(db, declaration + ")"); rc != SQLITE_OK) return rc;
  auto* vtab = new TableVtab{};
  vtab->relation = found->second;
  vtab->estimate = found->second->EstimatedRows();
  vtab->module = module;
  *out = vtab;
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* vtab) {
  delete static_cast<TableVtab*>(vtab);
  return SQLITE_OK;
}

int BestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  const TableVtab& table = *static_cast<TableVtab*>(vtab);
  return PlanScan(*table.relation, table.estimate, info);
}

int Open(sqlite3_vtab* vtab, sqlite3_vtab_cursor** out) {
  auto* cursor = new Cursor{};
  cursor->table = static_cast<TableVtab*>(vtab);
  cursor->relation = cursor->table->relation;
  *out = cursor;
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// The first row whose sorted cell is not below `bound`, or, with `after`, above it.
template <class Number>
size_t Search(const Relation& relation, size_t column, Number bound, bool after) {
  size_t low = 0, high = relation.rows();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const auto cell = static_cast<Number>(relation.At(middle, column).integer);
    if (cell < bound || (after && cell <= bound))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool Holds(const Cursor& cursor, size_t row) {
  const auto holds = [&](const auto& test) { return test.Holds(*cursor.relation, row); };
  return std::ranges::all_of(cursor.equal, holds) && std::ranges::all_of(cursor.tests, holds) &&
         std::ranges::all_of(cursor.text_filters,
                             [&](const TextFilter& filter) { return filter.Holds(row); });
}

// The next row from `row` on that has what the statement asks for, or cursor.end.
size_t FindRow(const Cursor& cursor, size_t row) {
  while (row < cursor.end && !Holds(cursor, row)) ++row;
  return row;
}

// The same among those of the index from `row` on.
size_t FindIndexedRow(const Cursor& cursor, uint32_t row, size_t begin) {
  while (row != EqualIndex::kNone && row < cursor.end && (row < begin || !Holds(cursor, row)))
    row = cursor.index->After(row);
  return std::min<size_t>(row, cursor.end);
}

void StepRow(Cursor& cursor) {
  cursor.row = cursor.index
                   ? FindIndexedRow(cursor, cursor.index->After(static_cast<uint32_t>(cursor.row)), 0)
                   : FindRow(cursor, cursor.row + 1);
}

// The index for the columns of cursor.equal, or null as long as one is not worth it.
const EqualIndex* IndexFor(const Cursor& cursor) {
  if (cursor.relation->rows() >= EqualIndex::kNone) return nullptr;
  std::vector<size_t> columns;
  for (const EqualTo& equal : cursor.equal) columns.push_back(equal.column);
  TableVtab::Lookups& lookups = cursor.table->lookups[columns];
  if (++lookups.count <= kSearchesBeforeIndex) return nullptr;
  if (!lookups.index) {
    lookups.index.emplace(*cursor.relation, std::move(columns));
    cursor.table->module->HasIndex(
        cursor.table, [](sqlite3_vtab* table) { static_cast<TableVtab*>(table)->lookups.clear(); });
  }
  return &*lookups.index;
}

// Adds what the patterns of the plan ask for, where many rows are to be looked at.
struct AskedText {
  char sign;
  size_t column;
  std::string_view pattern;
};
void TestTexts(Cursor& cursor, std::span<const AskedText> asked) {
  const auto* table = dynamic_cast<const Table*>(cursor.relation);
  const size_t rows = cursor.end - cursor.row;
  if (!table || cursor.index || rows < kTextRows || table->texts() > kTextsPerRow * rows) return;
  if (cursor.table->text_scans == kMostTextScans) return;
  if (cursor.table->text_scans++ == 0)
    cursor.table->module->HasIndex(cursor.table,
                                   [](sqlite3_vtab* vtab) { static_cast<TableVtab*>(vtab)->text_scans = 0; });
  for (const AskedText& text : asked)
    cursor.text_filters.emplace_back(*table, text.sign, text.column, text.pattern);
}

// Takes the plan's lines of values, which argv holds from `argument` on, and of the order. False where no row
// has a value.
bool ReadPlan(Cursor& cursor, std::string_view plan, sqlite3_value** argv, std::vector<AskedText>& asked,
              bool& is_complete) {
  std::vector<OrderTerm> order;
  is_complete = true;
  for (; !plan.empty(); plan.remove_prefix(plan.find('\n') + 1)) {
    size_t column = 0;
    std::from_chars(plan.data() + 1, plan.data() + plan.size(), column);
    if (plan[0] == '+' || plan[0] == '-') {
      order.push_back({column, plan[0] == '-'});
      continue;
    }
    if (plan[0] == TextFilter::kLike || plan[0] == TextFilter::kRegexp) {
      sqlite3_value* pattern = *argv++;
      if (sqlite3_value_type(pattern) != SQLITE_TEXT) continue;  // SQLite's own test decides
      const auto* bytes = static_cast<const char*>(sqlite3_value_blob(pattern));
      asked.push_back({plan[0], column, {bytes, static_cast<size_t>(sqlite3_value_bytes(pattern))}});
      continue;
    }
    if (plan[0] != '=') {
      cursor.tests.emplace_back(*cursor.relation, plan[0], column,
                                CellTest::TakesValue(plan[0]) ? *argv++ : nullptr);
      continue;
    }
    sqlite3_value* value = *argv++;
    if (cursor.relation->schema().columns[column].type == Type::kInteger) {
      const std::optional<int64_t> integer = EqualInteger(value);
      if (!integer) return false;
      cursor.equal.emplace_back(*cursor.relation, column, CellView::Of(*integer));
      continue;
    }
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return false;
    if (type != SQLITE_TEXT) {  // SQLite's own test decides
      is_complete = false;
    } else {
      const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(value));
      cursor.texts.emplace_back(bytes, static_cast<size_t>(sqlite3_value_bytes(value)));
      cursor.equal.emplace_back(*cursor.relation, column,
                                CellView::Of(std::string_view(cursor.texts.back())));
    }
  }
  if (!order.empty()) cursor.order.emplace(*cursor.relation, std::move(order));
  return true;
}

int Filter(sqlite3_vtab_cursor* base, int flags, const char* plan, int argc, sqlite3_value** argv) {
  auto* cursor = static_cast<Cursor*>(base);
  const Relation& relation = *cursor->relation;
  TableVtab& table = *cursor->table;
  if (!table.is_computed) table.is_computed = table.module->Compute(relation);
  if (!table.is_computed) return SQLITE_ERROR;
  cursor->row = 0;
  cursor->end = relation.rows();
  cursor->equal.clear();
  cursor->texts.clear();
  cursor->tests.clear();
  cursor->text_filters.clear();
  cursor->index = nullptr;
  cursor->order.reset();
  int argument = 0;
  // Bounds are widened by one double step: near 2^63 a double does not hold every nanosecond.
  const auto narrow = [&](bool lower, bool upper) {
    if (argument >= argc) return;
    sqlite3_value* value = argv[argument++];
    const int type = sqlite3_value_numeric_type(value);
    if (type == SQLITE_NULL) {
      cursor->end = cursor->row;  // a comparison with NULL is never true
      return;
    }
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;  // SQLite's own test decides
    const double bound = sqlite3_value_double(value);
    const size_t column = *cursor->relation->SortedColumn();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (lower)
      cursor->row = std::max(cursor->row, Search(relation, column, std::nextafter(bound, -kInfinity), false));
    if (upper)
      cursor->end = std::min(cursor->end, Search(relation, column, std::nextafter(bound, kInfinity), true));
  };
  if (flags & ScanBounds::kEqual) {
    const size_t column = *relation.SortedColumn();
    if (const auto integer = EqualInteger(argv[argument++])) {
      cursor->row = Search(relation, column, *integer, false);
      cursor->end = Search(relation, column, *integer, true);
    } else {
      cursor->end = cursor->row;
    }
  }
  if (flags & ScanBounds::kLower) narrow(true, false);
  if (flags & ScanBounds::kUpper) narrow(false, true);
  if (!plan) return SQLITE_OK;
  try {
    bool is_complete = true;
    std::vector<AskedText> asked;
    if (!ReadPlan(*cursor, plan, argv + argument, asked, is_complete)) {
      cursor->end = cursor->row;  // a comparison with NULL is never true
      cursor->order.reset();
    }
    const size_t begin = cursor->row;
    if ((flags & ScanBounds::kIndexed) && is_complete && begin < cursor->end)
      cursor->index = IndexFor(*cursor);
    if (!asked.empty() && begin < cursor->end) TestTexts(*cursor, asked);
    cursor->row = cursor->index ? FindIndexedRow(*cursor, cursor->index->First(cursor->equal), begin)
                                : FindRow(*cursor, begin);
    if (!cursor->order) return SQLITE_OK;
    for (; cursor->row < cursor->end; StepRow(*cursor)) cursor->order->Add(cursor->row);
    cursor->order->Begin();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* base) {
  auto* cursor = static_cast<Cursor*>(base);
  cursor->order ? cursor->order->Next() : StepRow(*cursor);
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* base) {
  const auto* cursor = static_cast<Cursor*>(base);
  return cursor->order ? cursor->order->AtEnd() : cursor->row >= cursor->end;
}

size_t RowOf(const Cursor& cursor) { return cursor.order ? cursor.order->Row() : cursor.row; }

int ReadColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const auto* cursor = static_cast<Cursor*>(base);
  const CellView cell = cursor->relation->At(RowOf(*cursor), static_cast<size_t>(column));
  switch (cell.kind) {
    case CellView::Kind::kNull:
      sqlite3_result_null(context);
      break;
    case CellView::Kind::kInteger:
      sqlite3_result_int64(context, cell.integer);
      break;
    case CellView::Kind::kReal:
      sqlite3_result_double(context, cell.real);
      break;
    case CellView::Kind::kText:  // the relation outlives the statement; no text at all is "", not NULL
      sqlite3_result_text64(context, cell.text.data() ? cell.text.data() : "", cell.text.size(),
                            SQLITE_STATIC, SQLITE_UTF8);
      break;
  }
  return SQLITE_OK;
}

int Rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* rowid) {
  *rowid = static_cast<sqlite3_int64>(RowOf(*static_cast<Cursor*>(cursor))) + 1;
  return SQLITE_OK;
}

const sqlite3_module kModule = [] {
  sqlite3_module module{};
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = ReadColumn;
  module.xRowid = Rowid;
  return module;
}();

}  // namespace

int RelationModule::Register(sqlite3* db, const std::string& name) {
  return sqlite3_create_module_v2(db, name.c_str(), &kModule, this, nullptr);
}

int RelationModule::Declare(sqlite3* db, const std::string& declaration) {
  is_declaring_ = true;
  const int rc = sqlite3_declare_vtab(db, declaration.c_str());
  is_declaring_ = false;
  return rc;
}

bool RelationModule::Compute(const Relation& relation) noexcept {
  try {
    compute_(relation);
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

void RelationModule::ThrowFailure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void RelationModule::HasIndex(sqlite3_vtab* table, void (*forget)(sqlite3_vtab*)) {
  with_index_.push_back({table, forget});
}

void RelationModule::ForgetIndexes() {
  for (const auto& [table, forget] : with_index_) forget(table);
  with_index_.clear();
}

}  // namespace dladvisor
