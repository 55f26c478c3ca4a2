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

void Table::AddRow(std::vector<Value> row) {
  assert(row.size() == columns_.size());
  for (size_t i = 0; i < row.size(); ++i) {
    if (schema_.columns[i].type == Type::kReal)
      if (const auto* integer = std::get_if<int64_t>(&row[i])) row[i] = static_cast<double>(*integer);
    columns_[i].push_back(std::move(row[i]));
  }
}

void Table::Reserve(size_t rows) {
  for (auto& column : columns_) column.reserve(rows);
}

}  // namespace dladvisor
