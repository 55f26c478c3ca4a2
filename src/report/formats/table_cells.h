// SPDX-License-Identifier: Apache-2.0
// Cells of the HTML report's tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/report/model/column_style.h"

namespace dladvisor {

// Escaped, with chances to break the line where a path or a qualified name has its joints.
std::string Breakable(std::string_view visible);

// The cells of a column's names, by name: few differ in many columns. The keys are texts of its rows.
using NameCells = std::unordered_map<std::string_view, std::string>;

// Of the first `shown` rows, short where a short name tells them apart; none where the column holds no names.
NameCells NameCellsOf(const ResultSet& rows, size_t column, size_t shown, const ColumnStyle& style,
                      bool row_header);

// A number stands over a bar as wide as its share of `most`; over none where that is 0.
void AddCell(std::string& html, const Value& value, const ColumnStyle& style, const NameCells& names,
             double most);

}  // namespace dladvisor
