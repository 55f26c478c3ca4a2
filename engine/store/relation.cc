// SPDX-License-Identifier: Apache-2.0
#include "engine/store/relation.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "engine/base/text.h"

namespace dladvisor {

std::optional<size_t> Schema::Find(std::string_view column) const {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == column) return i;
  return std::nullopt;
}

Table::Table(Schema schema) : schema_(std::move(schema)), columns_(schema_.columns.size()) {}
Table::Table(Table&& other) noexcept = default;
Table& Table::operator=(Table&& other) noexcept = default;
Table::~Table() = default;

CellView Table::At(size_t row, size_t column) const {
  const Cells& cells = columns_[column];
  if (!cells.known.empty() && !cells.known[row]) return CellView::Null();
  const int64_t value = cells.values[row];
  switch (schema_.columns[column].type) {
    case Type::kInteger:
      return CellView::Of(value);
    case Type::kReal:
      return CellView::Of(std::bit_cast<double>(value));
    case Type::kText:
      return CellView::Of(texts_.View(static_cast<NameId>(value)));
  }
  return CellView::Null();
}

Value ToValue(const CellView& cell) {
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

Value Table::ValueAt(size_t row, size_t column) const { return ToValue(At(row, column)); }

std::optional<size_t> Table::SortedColumn() const {
  return sorted_ && rows() > 0 ? std::optional<size_t>(0) : std::nullopt;
}

RowEstimate Table::EstimatedRows() const {
  RowEstimate estimate{.rows = static_cast<double>(rows()), .is_exact = true};
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
  const bool is_integer = cell.kind == CellView::Kind::kInteger;
  switch (schema_.columns[column].type) {
    case Type::kInteger:
      return Add(column, is_integer, cell.integer);
    case Type::kReal:
      return Add(column, is_integer || cell.kind == CellView::Kind::kReal,
                 std::bit_cast<int64_t>(is_integer ? static_cast<double>(cell.integer) : cell.real));
    case Type::kText: {
      const bool known = cell.kind == CellView::Kind::kText;
      return Add(column, known, known ? texts_.Intern(cell.text) : kNoName);
    }
  }
}

void Table::AddCells(size_t column, std::span<const int64_t> values, std::span<const uint8_t> unknown) {
  Cells& cells = columns_[column];
  if (column == 0 && sorted_) {  // whose order is looked at
    for (size_t i = 0; i < values.size(); ++i) Add(column, unknown[i] == 0, values[i]);
    return;
  }
  const bool any_unknown = std::ranges::find_if(unknown, std::identity()) != unknown.end();
  if (any_unknown && cells.known.empty()) cells.known.assign(cells.values.size(), true);
  if (any_unknown || !cells.known.empty())
    for (const uint8_t is_unknown : unknown) cells.known.push_back(is_unknown == 0);
  for (const int64_t value : values) cells.values.push_back(value);
}

void Table::Add(size_t column, bool known, int64_t value) {
  Cells& cells = columns_[column];
  const size_t size = cells.values.size();
  if (!known && cells.known.empty()) cells.known.assign(size, true);
  if (!known || !cells.known.empty()) cells.known.push_back(known);
  if (column == 0 && sorted_) {
    const int64_t last = size == 0 ? 0 : cells.values[size - 1];
    sorted_ = schema_.columns[0].type == Type::kInteger && known && (size == 0 || last <= value);
    if (sorted_ && (size == 0 || last < value)) ++distinct_values_;
  }
  cells.values.push_back(known ? value : 0);
}

void Table::Reserve(size_t rows) {
  for (Cells& cells : columns_) cells.values.reserve(rows);
}

std::vector<std::string_view> CapabilitiesOf(std::string_view capture, std::span<const std::string> rows) {
  std::vector<std::string_view> names;
  for (const std::string_view each : Split(capture, ' ')) {
    const size_t colon = each.find(':');
    if (colon != std::string_view::npos && !rows.empty()) {
      const std::vector<std::string_view> of = Split(each.substr(colon + 1), ',');
      if (std::ranges::find_first_of(rows, of) == rows.end()) continue;
    }
    names.push_back(each.substr(0, colon));
  }
  return names;
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

RowRelation::RowRelation(std::string_view name, std::string_view doc)
    : schema_{std::string(name), std::string(doc), {}, {}} {}

void RowRelation::Add(std::string_view name, RowMember member, Unit unit, std::string_view doc,
                      std::string_view capture, Numbering numbering, bool is_key) {
  if (is_key) schema_.key.emplace_back(name);
  const auto& [type, nullable, add, set] = *member.access;
  schema_.columns.push_back(
      {std::string(name), type, unit, std::string(doc), nullable, std::string(capture), numbering});
  members_.push_back(member);
}

Table RowRelation::TableOf(const RawRows& rows) const {
  Table table(schema_);
  table.Reserve(rows.count);
  std::vector<InternedViews> texts(members_.size());
  Append(rows, texts, table);
  return table;
}

void RowRelation::Append(const RawRows& rows, std::vector<InternedViews>& texts, Table& table) const {
  if (rows.count == 0) return;
  for (size_t c = 0; c < members_.size(); ++c)
    members_[c].access->add({rows.first + members_[c].offset, rows.count, rows.size}, c, texts[c], table);
}

void RowRelation::Fill(const Table& table, std::byte* rows, size_t row_size) const {
  for (size_t c = 0; c < members_.size(); ++c) {
    const auto found = table.schema().Find(schema_.columns[c].name);
    if (!found) continue;
    for (size_t i = 0; i < table.rows(); ++i)
      members_[c].access->set(table.At(i, *found), rows + i * row_size + members_[c].offset);
  }
}

}  // namespace dladvisor
