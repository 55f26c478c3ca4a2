// SPDX-License-Identifier: Apache-2.0
// The rows of a relation by the values of some of its columns, for joins: each look-up takes the time of the
// rows that it finds, not of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/store/relation.h"
#include "engine/store/sqlite_allocator.h"

struct sqlite3_value;

namespace dladvisor {

// What cells of an integer column are equal to that SQLite takes for equal to the value; nothing where none
// is.
std::optional<int64_t> EqualInteger(sqlite3_value* value);

// A cell that compares equal to what a statement asks for: an integer or a text.
struct EqualTo {
  EqualTo(const Relation& relation, size_t of_column, const CellView& with);

  size_t column = 0;
  CellView value;
  const Table* table = nullptr;  // where the relation is one
  int64_t stored = 0;            // what it stores for the value

  bool Holds(const Relation& relation, size_t row) const;
};

class EqualIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // REQUIRES: the relation has less than 2^32 - 1 rows and outlives the index. Throws std::bad_alloc where
  // the memory that statements may take does not suffice.
  EqualIndex(const Relation& relation, std::vector<size_t> columns);

  const std::vector<size_t>& columns() const { return columns_; }
  // The first row that may have these values, which are in the order of columns(), and the one after a row;
  // in ascending order, kNone at the end.
  uint32_t First(std::span<const EqualTo> values) const;
  uint32_t After(uint32_t row) const { return next_[row]; }

 private:
  std::vector<size_t> columns_;
  std::vector<uint32_t, SqliteAllocator<uint32_t>> first_, next_;  // by hash, of which there are 2^n; by row
};

}  // namespace dladvisor
