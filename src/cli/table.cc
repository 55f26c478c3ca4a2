// SPDX-License-Identifier: Apache-2.0
#include "src/cli/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/render/escape.h"

namespace dladvisor {
namespace {

std::string Readable(const Value& value, Unit unit) {
  std::string text = IsNull(value) ? "-" : FormatValue(value, unit);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return Visible(text);
}

// At most `width` columns of the text.
std::string Cut(const std::string& text, size_t width) {
  if (Columns(text) <= width) return text;
  size_t end = 0;
  for (size_t columns = 0; end < text.size() && columns < width; ++end)
    if (end + 1 == text.size() || (text[end + 1] & 0xC0) != 0x80) ++columns;
  return text.substr(0, end) + "…";
}

}  // namespace

std::string TableText(const ResultSet& result, const std::string& indent, size_t max_width) {
  std::string table;
  std::vector<std::vector<std::string>> lines(1);
  for (const ResultColumn& c : result.columns) lines[0].push_back(c.name);
  for (const auto& row : result.rows) {
    auto& line = lines.emplace_back();
    for (size_t i = 0; i < row.size(); ++i)
      line.push_back(Cut(Readable(row[i], result.columns[i].unit), max_width));
  }
  std::vector<size_t> widths(result.columns.size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], Columns(line[i]));
  for (size_t n = 0; n < lines.size(); ++n) {
    std::string text = indent;
    for (size_t i = 0; i < lines[n].size(); ++i) {
      const std::string padding(widths[i] - Columns(lines[n][i]), ' ');
      const bool number = n > 0 && !std::holds_alternative<std::string>(result.rows[n - 1][i]);
      text += (i ? "  " : "") + (number ? padding + lines[n][i] : lines[n][i] + padding);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    table += text + "\n";
  }
  return table;
}

void PrintTable(const ResultSet& result, const std::string& indent, size_t max_width) {
  const std::string table = TableText(result, indent, max_width);
  std::fwrite(table.data(), 1, table.size(), stdout);
}

}  // namespace dladvisor
