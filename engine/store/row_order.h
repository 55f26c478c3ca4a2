// SPDX-License-Identifier: Apache-2.0
// Rows of a relation in the order of some of its columns, as SQLite orders values: unknown ones first, then
// numbers, then texts by their bytes; rows that are equal in all keep their order. Sorted only as far as
// rows are asked for: a statement with a LIMIT takes few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/store/relation.h"
#include "engine/store/sqlite_allocator.h"

namespace dladvisor {

struct OrderTerm {
  size_t column = 0;
  bool descending = false;
};

class RowOrder {
 public:
  // REQUIRES: the relation has less than 2^32 rows and outlives this.
  RowOrder(const Relation& relation, std::vector<OrderTerm> terms)
      : relation_(&relation), terms_(std::move(terms)) {}

  // The rows, in ascending order. Add() throws std::bad_alloc where the memory that statements may take does
  // not suffice.
  void Add(size_t row) { rows_.push_back({KeyOf(row), static_cast<uint32_t>(row)}); }
  void Begin();

  bool AtEnd() const { return at_ == rows_.size(); }
  size_t Row() const { return rows_[at_].row; }
  void Next() {
    if (++at_ == sorted_ && !AtEnd()) SortMore();
  }

 private:
  // `key` is the first term's value, as far as it fits: where keys differ, rows are in their order.
  struct Entry {
    int64_t key;
    uint32_t row;
  };

  int64_t KeyOf(size_t row) const;
  // Whether rows with this key are equal in the first term.
  bool IsWhole(int64_t key) const;
  bool IsEqualInAll(size_t column) const;
  bool IsBefore(const Entry& a, const Entry& b) const;
  void SortMore();

  const Relation* relation_;
  std::vector<OrderTerm> terms_;
  std::vector<Entry, SqliteAllocator<Entry>> rows_;
  size_t at_ = 0, sorted_ = 0;  // how many of the rows are in order, and no later one before them
};

}  // namespace dladvisor
