// SPDX-License-Identifier: Apache-2.0
// Comma-separated tables of other tools, for comparison.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/files.h"

namespace dladvisor::test {

// Rows of fields; quoted fields may hold commas, line breaks and doubled quotes.
inline std::vector<std::vector<std::string>> ReadCsv(const std::filesystem::path& path) {
  const std::string text = ReadFile(path);
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = rows.back().back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      field += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      rows.back().emplace_back();
    else if (c == '\n' && !quoted)
      rows.emplace_back(1, std::string());
    else if (c != '\r' || quoted)
      field += c;
  }
  return rows;
}

// The rows below the first one that has all of `columns`, each as column name -> field.
inline std::vector<std::map<std::string, std::string>> ReadCsvTable(const std::filesystem::path& path,
                                                                    const std::vector<std::string>& columns) {
  std::vector<std::map<std::string, std::string>> table;
  std::vector<std::string> header;
  for (const std::vector<std::string>& row : ReadCsv(path)) {
    if (header.empty()) {
      if (std::all_of(columns.begin(), columns.end(),
                      [&](const auto& c) { return std::find(row.begin(), row.end(), c) != row.end(); }))
        header = row;
    } else if (row.size() == header.size()) {
      auto& fields = table.emplace_back();
      for (size_t i = 0; i < row.size(); ++i) fields[header[i]] = row[i];
    }
  }
  return table;
}

}  // namespace dladvisor::test
