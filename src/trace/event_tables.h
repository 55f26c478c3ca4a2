// SPDX-License-Identifier: Apache-2.0
// What can be done with any table of events (events.h), by the list of its columns.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "src/trace/events.h"
#include "src/trace/parallel.h"
#include "src/trace/reorder.h"

namespace dladvisor {

// Whether the list of a table's columns is complete: its columns and what its rows refer to are all it has.
template <class Table>
constexpr bool ListsAllColumns() {
  size_t bytes = 0;
  Table::ForEachColumn(
      [&]<class Owner, class Column>(Column Owner::*, const EventColumn&) { bytes += sizeof(Column); });
  if constexpr (requires(Table t) { t.shapes; }) bytes += sizeof(Table::shapes);
  if constexpr (requires(Table t) { t.chains; }) bytes += sizeof(Table::chains);
  return bytes == sizeof(Table);
}

// Calls visit(column, EventColumn) for each column of `table`.
template <class Table, class Visit>
void VisitColumns(Table& table, Visit visit) {
  std::remove_const_t<Table>::ForEachColumn(
      [&](auto member, const EventColumn& about) { visit(table.*member, about); });
}

// The times that rows are sorted by.
template <class Table>
const std::vector<Ns>& RowTimes(const Table& table) {
  if constexpr (requires { table.start; })
    return table.start;
  else
    return table.time;
}

// Makes room for as many rows, but not for columns that may stay empty.
template <class Table>
void Reserve(Table& table, size_t rows) {
  VisitColumns(table, [rows]<class Column>(Column& column, const EventColumn& about) {
    // An IntColumn takes no memory before it holds a number.
    if (!about.may_be_empty || std::is_base_of_v<IntColumn, Column>) column.reserve(rows);
  });
}

template <class Table>
void ReorderRows(const std::vector<uint32_t>& order, Table& table) {
  if (order.empty()) return;
  std::vector<std::function<void(std::vector<std::byte>&)>> columns;
  VisitColumns(table, [&](auto& column, const EventColumn&) {
    if (column.size() > 0)
      columns.emplace_back([&](std::vector<std::byte>& scratch) { ReorderColumn(order, column, scratch); });
  });
  // Two buffers serve all columns: what bounds more threads is memory, in both senses.
  std::atomic<size_t> next = 0;
  ParallelFor(2, [&](size_t) {
    std::vector<std::byte> scratch;
    for (size_t column = next++; column < columns.size(); column = next++) columns[column](scratch);
  });
}

// Rows that start together stay in their order.
template <class Table>
void SortByStart(Table& table) {
  ReorderRows(OrderByStart(RowTimes(table)), table);
}

// Of rows that start together the longest comes first, since it encloses the others.
template <class Table>
void SortByStartLongestFirst(Table& table) {
  ReorderRows(OrderByStart(table.start, [&](size_t a, size_t b) { return table.end[a] > table.end[b]; }),
              table);
}

// For every index of a part of a trace, that of the whole.
struct IndexMaps {
  std::vector<uint32_t> name, domain, process, thread, device, shape, arguments, collective, chain;

  // Null for values that are not indices.
  const std::vector<uint32_t>* Of(ColumnKind kind) const;
};

// Whether a column can hold indices, which the columns of kinds like kDevice do.
template <class Column>
concept HoldsIndices = std::is_same_v<Column, std::vector<uint32_t>> || std::is_same_v<Column, IndexColumn>;

inline void SetIndex(std::vector<uint32_t>& column, size_t row, uint32_t index) { column[row] = index; }
inline void SetIndex(IndexColumn& column, size_t row, uint32_t index) { column.Set(row, index); }

template <class Column>
void AppendMapped(Column& to, const Column& from, const std::vector<uint32_t>& map) {
  for (size_t i = 0; i < from.size(); ++i) {
    const auto index = static_cast<size_t>(from[i]);
    to.push_back(index == kNoIndex ? kNoIndex : map.at(index));
  }
}

// Appends the rows of a part of a trace to those of the whole.
template <class Table>
void AppendRows(Table& to, const Table& from, const IndexMaps& maps) {
  Table::ForEachColumn([&]<class Owner, class Column>(Column Owner::*member, const EventColumn& about) {
    Column& all = to.*member;
    const Column& more = from.*member;
    const std::vector<uint32_t>* map = maps.Of(about.kind);
    if constexpr (std::is_base_of_v<IntColumn, Column>) {
      if (map)
        AppendMapped(all, more, *map);
      else
        all.Append(more);
    } else if constexpr (std::is_same_v<Column, std::vector<uint32_t>>) {
      if (map)
        AppendMapped(all, more, *map);
      else
        all.insert(all.end(), more.begin(), more.end());
    } else {
      all.insert(all.end(), more.begin(), more.end());
    }
  });
}

}  // namespace dladvisor
