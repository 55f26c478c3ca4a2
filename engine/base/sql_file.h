// SPDX-License-Identifier: Apache-2.0
// SQL files that are compiled into the program: statements that people can read and paste, with what the
// program needs to know of each.
//
//   -- A comment for readers.
//   -- id: window
//   -- note: What the profile covers, where
//   --   warm-up is left out.
//   SELECT total
//   FROM time_ledger;
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor {

struct SqlStatement {
  std::map<std::string, std::string, std::less<>> keys;  // {"id", "window"}, ...
  std::string sql;                                       // on one line, without ";"

  // "" where it is not given.
  const std::string& Get(std::string_view key) const;
};

// Statements end with ";" at the end of a line. `keys` are those that may be given beside `id`, which comes
// first. Throws Error with `path` and the line.
std::vector<SqlStatement> ReadSqlFile(std::string_view path, std::string_view content,
                                      std::span<const std::string_view> keys);

}  // namespace dladvisor
