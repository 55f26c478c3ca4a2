// SPDX-License-Identifier: Apache-2.0
#include "engine/store/equal_index.h"

#include <sqlite3.h>

#include <bit>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

namespace dladvisor {
namespace {

// The high half of the product depends on all bits of the value.
uint64_t Mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

uint64_t Mixed(uint64_t hash, const CellView& cell) {
  return cell.kind == CellView::Kind::kText ? Mixed(hash, std::hash<std::string_view>{}(cell.text))
                                            : Mixed(hash, static_cast<uint64_t>(cell.integer));
}

}  // namespace

std::optional<int64_t> EqualInteger(sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
  if (type != SQLITE_FLOAT) return std::nullopt;
  constexpr double kLimit = 9'223'372'036'854'775'808.0;
  const double real = sqlite3_value_double(value);
  if (!(real >= -kLimit && real < kLimit) || real != std::floor(real)) return std::nullopt;
  return static_cast<int64_t>(real);
}

EqualTo::EqualTo(const Relation& relation, size_t of_column, const CellView& with)
    : column(of_column), value(with), table(dynamic_cast<const Table*>(&relation)) {
  if (table) stored = value.kind == CellView::Kind::kText ? table->StoredFor(value.text) : value.integer;
}

bool EqualTo::Holds(const Relation& relation, size_t row) const {
  if (table) return table->Stores(row, column, stored);
  const CellView cell = relation.At(row, column);
  if (cell.kind != value.kind) return false;
  return cell.kind == CellView::Kind::kText ? cell.text == value.text : cell.integer == value.integer;
}

EqualIndex::EqualIndex(const Relation& relation, std::vector<size_t> columns)
    : columns_(std::move(columns)),
      first_(std::bit_ceil(relation.rows() + 1), kNone),
      next_(relation.rows(), kNone) {
  for (size_t row = next_.size(); row-- > 0;) {
    uint64_t hash = 0;
    for (const size_t column : columns_) hash = Mixed(hash, relation.At(row, column));
    next_[row] = std::exchange(first_[hash & (first_.size() - 1)], static_cast<uint32_t>(row));
  }
}

uint32_t EqualIndex::First(std::span<const EqualTo> values) const {
  uint64_t hash = 0;
  for (const EqualTo& value : values) hash = Mixed(hash, value.value);
  return first_[hash & (first_.size() - 1)];
}

}  // namespace dladvisor
