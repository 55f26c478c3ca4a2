// SPDX-License-Identifier: Apache-2.0
#include "engine/store/relation.h"

#include <utility>

namespace dladvisor {

std::optional<size_t> Schema::Find(std::string_view column) const {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == column) return i;
  return std::nullopt;
}

CellView Table::At(size_t row, size_t column) const {
  const Value& value = columns_[column][row];
  if (const auto* integer = std::get_if<int64_t>(&value)) return CellView::Of(*integer);
  if (const auto* real = std::get_if<double>(&value)) return CellView::Of(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return CellView::Of(std::string_view(*text));
  return CellView::Null();
}

std::optional<size_t> Table::SortedColumn() const {
  return sorted_ && rows() > 0 ? std::optional<size_t>(0) : std::nullopt;
}

RowEstimate Table::EstimatedRows() const {
  RowEstimate estimate{.rows = static_cast<double>(rows())};
  if (SortedColumn()) estimate.per_value = estimate.rows / static_cast<double>(distinct_values_);
  return estimate;
}

void Table::AddRow(std::vector<Value> row) {
  assert(row.size() == columns_.size());
  if (sorted_ && !row.empty()) {
    const auto* value = std::get_if<int64_t>(&row[0]);
    const auto* last = columns_[0].empty() ? nullptr : std::get_if<int64_t>(&columns_[0].back());
    sorted_ = value && schema_.columns[0].type == Type::kInteger && (!last || *last <= *value);
    if (sorted_ && (!last || *last < *value)) ++distinct_values_;
  }
  for (size_t i = 0; i < row.size(); ++i) {
    if (schema_.columns[i].type == Type::kReal)
      if (const auto* integer = std::get_if<int64_t>(&row[i])) row[i] = static_cast<double>(*integer);
    columns_[i].push_back(std::move(row[i]));
  }
}

void Table::Reserve(size_t rows) {
  for (auto& column : columns_) column.reserve(rows);
}

Table WithSchema(const Table& from, const Schema& schema) {
  std::vector<std::optional<size_t>> sources;
  for (const Column& column : schema.columns) sources.push_back(from.schema().Find(column.name));
  Table to(schema);
  to.Reserve(from.rows());
  for (size_t i = 0; i < from.rows(); ++i) {
    std::vector<Value> row;
    for (const std::optional<size_t>& source : sources)
      row.push_back(source ? from.ValueAt(i, *source) : Value());
    to.AddRow(std::move(row));
  }
  return to;
}

}  // namespace dladvisor
