// SPDX-License-Identifier: Apache-2.0
#include "engine/store/relation.h"

#include <bit>
#include <utility>

namespace dladvisor {

std::optional<size_t> Schema::Find(std::string_view column) const {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == column) return i;
  return std::nullopt;
}

CellView Table::At(size_t row, size_t column) const {
  const Cells& cells = columns_[column];
  if (!cells.known.empty() && !cells.known[row]) return CellView::Null();
  switch (schema_.columns[column].type) {
    case Type::kInteger:
      return CellView::Of(cells.numbers[row]);
    case Type::kReal:
      return CellView::Of(std::bit_cast<double>(cells.numbers[row]));
    case Type::kText:
      return CellView::Of(texts_.View(cells.texts[row]));
  }
  return CellView::Null();
}

Value Table::ValueAt(size_t row, size_t column) const {
  const CellView cell = At(row, column);
  switch (cell.kind) {
    case CellView::Kind::kInteger:
      return cell.integer;
    case CellView::Kind::kReal:
      return cell.real;
    case CellView::Kind::kText:
      return std::string(cell.text);
    case CellView::Kind::kNull:
      break;
  }
  return {};
}

std::optional<size_t> Table::SortedColumn() const {
  return sorted_ && rows() > 0 ? std::optional<size_t>(0) : std::nullopt;
}

RowEstimate Table::EstimatedRows() const {
  RowEstimate estimate{.rows = static_cast<double>(rows())};
  if (SortedColumn()) estimate.per_value = estimate.rows / static_cast<double>(distinct_values_);
  return estimate;
}

void Table::AddRow(const std::vector<Value>& row) {
  assert(row.size() == columns_.size());
  for (size_t i = 0; i < row.size(); ++i) {
    if (const auto* integer = std::get_if<int64_t>(&row[i]))
      AddCell(i, CellView::Of(*integer));
    else if (const auto* real = std::get_if<double>(&row[i]))
      AddCell(i, CellView::Of(*real));
    else if (const auto* text = std::get_if<std::string>(&row[i]))
      AddCell(i, CellView::Of(std::string_view(*text)));
    else
      AddCell(i, CellView::Null());
  }
}

void Table::AddCell(size_t column, const CellView& cell) {
  Cells& cells = columns_[column];
  const Type type = schema_.columns[column].type;
  const bool is_integer = cell.kind == CellView::Kind::kInteger;
  bool known = true;
  if (type == Type::kText) {
    known = cell.kind == CellView::Kind::kText;
    cells.texts.push_back(known ? texts_.Intern(cell.text) : kNoName);
  } else if (type == Type::kReal) {
    known = is_integer || cell.kind == CellView::Kind::kReal;
    const double number = is_integer ? static_cast<double>(cell.integer) : cell.real;
    cells.numbers.push_back(known ? std::bit_cast<int64_t>(number) : 0);
  } else {
    known = is_integer;
    cells.numbers.push_back(known ? cell.integer : 0);
  }
  if (!known && cells.known.empty()) cells.known.assign(cells.size, true);
  if (!known || !cells.known.empty()) cells.known.push_back(known);
  if (column == 0 && sorted_) {
    const size_t last = cells.size;
    const bool first = last == 0;
    sorted_ = type == Type::kInteger && known && (first || cells.numbers[last - 1] <= cells.numbers[last]);
    if (sorted_ && (first || cells.numbers[last - 1] < cells.numbers[last])) ++distinct_values_;
  }
  ++cells.size;
}

void Table::Reserve(size_t rows) {
  for (size_t i = 0; i < columns_.size(); ++i)
    schema_.columns[i].type == Type::kText ? columns_[i].texts.reserve(rows)
                                           : columns_[i].numbers.reserve(rows);
}

Table WithSchema(const Table& from, const Schema& schema) {
  std::vector<std::optional<size_t>> sources;
  for (const Column& column : schema.columns) sources.push_back(from.schema().Find(column.name));
  Table to(schema);
  to.Reserve(from.rows());
  for (size_t i = 0; i < from.rows(); ++i) {
    for (size_t c = 0; c < sources.size(); ++c)
      to.AddCell(c, sources[c] ? from.At(i, *sources[c]) : CellView::Null());
  }
  return to;
}

}  // namespace dladvisor
