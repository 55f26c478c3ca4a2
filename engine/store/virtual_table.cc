// SPDX-License-Identifier: Apache-2.0
#include "engine/store/virtual_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/sqlite.h"

namespace dladvisor {
namespace {

struct TableVtab : sqlite3_vtab {
  const Relation* relation;
  RowEstimate estimate;
};

struct Cursor : sqlite3_vtab_cursor {
  const TableVtab* table;
  const Relation* relation;
  size_t row, end;
};

// Bits of idxNum: which bounds on the sorted column Filter receives, in this order.
enum Bound : int { kEqual = 1, kLower = 2, kUpper = 4 };

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
  const auto& relations = *static_cast<const RelationMap*>(aux);
  const auto found = relations.find(std::string_view(argv[2]));
  if (found == relations.end()) {
    *error = sqlite3_mprintf("no such relation: %s", argv[2]);
    return SQLITE_ERROR;
  }
  std::string declaration = "CREATE TABLE x(";
  const Schema& schema = found->second->schema();
  for (size_t i = 0; i < schema.columns.size(); ++i)
    declaration += fmt::format("{}{} {}", i ? ", " : "", QuotedName(schema.columns[i].name),
                               SqlType(schema.columns[i].type));
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  if (const int rc = sqlite3_declare_vtab(db, (declaration + ")").c_str()); rc != SQLITE_OK) return rc;
  auto* vtab = new TableVtab{};
  vtab->relation = found->second;
  vtab->estimate = found->second->EstimatedRows();
  *out = vtab;
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* vtab) {
  delete static_cast<TableVtab*>(vtab);
  return SQLITE_OK;
}

int BestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  const TableVtab& table = *static_cast<TableVtab*>(vtab);
  info->estimatedCost = table.estimate.rows + 1;
  info->estimatedRows = static_cast<sqlite3_int64>(table.estimate.rows) + 1;
  const std::optional<size_t> sorted = table.relation->SortedColumn();
  if (!sorted) return SQLITE_OK;
  int equal = -1, lower = -1, upper = -1, flags = 0;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (!constraint.usable || constraint.iColumn != static_cast<int>(*sorted)) continue;
    switch (constraint.op) {
      case SQLITE_INDEX_CONSTRAINT_EQ:
      case SQLITE_INDEX_CONSTRAINT_IS:  // the column has no NULL
        equal = i;
        break;
      case SQLITE_INDEX_CONSTRAINT_GE:
      case SQLITE_INDEX_CONSTRAINT_GT:
        lower = i;
        break;
      case SQLITE_INDEX_CONSTRAINT_LE:
      case SQLITE_INDEX_CONSTRAINT_LT:
        upper = i;
        break;
      default:
        break;
    }
  }
  int argument = 0;
  // SQLite tests every constraint again (omit = 0), so that the search need only be a superset.
  const auto use = [&](int constraint, int flag) {
    info->aConstraintUsage[constraint].argvIndex = ++argument;
    flags |= flag;
  };
  if (equal >= 0) {
    use(equal, kEqual);
    info->estimatedCost = table.estimate.per_value + 8;
    info->estimatedRows = static_cast<sqlite3_int64>(table.estimate.per_value);
  } else {
    if (lower >= 0) use(lower, kLower);
    if (upper >= 0) use(upper, kUpper);
    if (argument > 0) info->estimatedCost = info->estimatedCost / (argument == 2 ? 16 : 4) + 1;
  }
  info->idxNum = flags;
  if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn == static_cast<int>(*sorted) &&
      !info->aOrderBy[0].desc)
    info->orderByConsumed = 1;
  return SQLITE_OK;
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
size_t Search(const Relation& relation, size_t column, double bound, bool after) {
  size_t low = 0, high = relation.rows();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const auto cell = static_cast<double>(relation.At(middle, column).integer);
    if (cell < bound || (after && cell <= bound))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int Filter(sqlite3_vtab_cursor* base, int flags, const char*, int argc, sqlite3_value** argv) {
  auto* cursor = static_cast<Cursor*>(base);
  const Relation& relation = *cursor->relation;
  cursor->row = 0;
  cursor->end = relation.rows();
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
  if (flags & kEqual) narrow(true, true);
  if (flags & kLower) narrow(true, false);
  if (flags & kUpper) narrow(false, true);
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* cursor) {
  ++static_cast<Cursor*>(cursor)->row;
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* base) {
  const auto* cursor = static_cast<Cursor*>(base);
  return cursor->row >= cursor->end;
}

int ReadColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const auto* cursor = static_cast<Cursor*>(base);
  const CellView cell = cursor->relation->At(cursor->row, static_cast<size_t>(column));
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
  *rowid = static_cast<sqlite3_int64>(static_cast<Cursor*>(cursor)->row) + 1;
  return SQLITE_OK;
}

const sqlite3_module kModule = [] {
  sqlite3_module module{};
  module.xCreate = Connect;
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xDestroy = Disconnect;
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

int RegisterRelationModule(sqlite3* db, const RelationMap* relations) {
  return sqlite3_create_module_v2(db, kRelationModule, &kModule, const_cast<RelationMap*>(relations),
                                  nullptr);
}

}  // namespace dladvisor
