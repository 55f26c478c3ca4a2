// SPDX-License-Identifier: Apache-2.0
#include "engine/store/cell_test.h"

#include <sqlite3.h>

#include <algorithm>
#include <string_view>

namespace dladvisor {
namespace {

// Of more texts SQLite's search among them is faster.
constexpr size_t kMostTexts = 16;

}  // namespace

char CellTest::SignOf(const Schema& schema, sqlite3_index_info* info, int constraint) {
  const auto& asked = info->aConstraint[constraint];
  if (!asked.usable || asked.iColumn < 0) return 0;
  const bool is_text = schema.columns[static_cast<size_t>(asked.iColumn)].type == Type::kText;
  switch (asked.op) {
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
      return is_text ? 0 : '>';
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
      return is_text ? 0 : '<';
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
      return '!';
    case SQLITE_INDEX_CONSTRAINT_EQ: {
      const bool is_list = is_text &&
                           std::string_view(sqlite3_vtab_collation(info, constraint)) == "BINARY" &&
                           sqlite3_vtab_in(info, constraint, 1);
      return is_list ? '@' : 0;
    }
    default:
      return 0;
  }
}

CellTest::CellTest(const Relation& relation, char sign, size_t column, sqlite3_value* value)
    : column_(column) {
  if (sign == '>') ReadBound(value, low_);
  if (sign == '<') ReadBound(value, high_);
  if (sign == '@') ReadList(value);
  if (asks_ != Asks::kTexts) return;
  table_ = dynamic_cast<const Table*>(&relation);
  for (const std::string& text : texts_)
    if (const int64_t stored = table_ ? table_->StoredFor(text) : StringPool::kNone;
        stored != StringPool::kNone)
      stored_.push_back(stored);
}

void CellTest::ReadBound(sqlite3_value* value, double& bound) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_NULL)
    asks_ = Asks::kImpossible;  // a comparison with NULL is never true
  else if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
    bound = sqlite3_value_double(value);
  else
    asks_ = Asks::kNothing;  // numbers are below all texts
}

void CellTest::ReadList(sqlite3_value* list) {
  asks_ = Asks::kNothing;
  sqlite3_value* value = nullptr;
  int rc = sqlite3_vtab_in_first(list, &value);
  for (; rc == SQLITE_OK && value; rc = sqlite3_vtab_in_next(list, &value)) {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) continue;  // equal to nothing
    if (type != SQLITE_TEXT || texts_.size() == kMostTexts) return;
    const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
    texts_.emplace_back(bytes ? bytes : "", static_cast<size_t>(sqlite3_value_bytes(value)));
  }
  if (rc == SQLITE_DONE) asks_ = Asks::kTexts;
}

bool CellTest::Holds(const Relation& relation, size_t row) const {
  if (asks_ == Asks::kNothing) return true;
  if (asks_ == Asks::kImpossible) return false;
  if (table_)
    return std::ranges::any_of(stored_, [&](int64_t stored) { return table_->Stores(row, column_, stored); });
  const CellView cell = relation.At(row, column_);
  switch (cell.kind) {
    case CellView::Kind::kNull:
      return false;
    case CellView::Kind::kInteger: {
      const auto number = static_cast<double>(cell.integer);
      return number >= low_ && number <= high_;
    }
    case CellView::Kind::kReal:
      return cell.real >= low_ && cell.real <= high_;
    case CellView::Kind::kText:
      return asks_ != Asks::kTexts || std::ranges::find(texts_, cell.text) != texts_.end();
  }
  return true;
}

}  // namespace dladvisor
