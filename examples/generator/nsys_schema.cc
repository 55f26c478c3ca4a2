// SPDX-License-Identifier: Apache-2.0
#include "examples/generator/nsys_schema.h"

#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "engine/base/embedded.h"
#include "engine/base/error.h"

namespace dladvisor {
std::span<const EmbeddedFile> EmbeddedNsysSchemas();
}  // namespace dladvisor

namespace dladvisor::example {
namespace {

// The word after `key` in a line, where it is a version number.
std::string VersionAfter(const std::string& line, const std::string& key) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word != key || !(words >> word)) continue;
    return word.find_first_not_of("0123456789.") == std::string::npos ? word : "";
  }
  return "";
}

// `sql` without the white space and comments that precede its first word.
std::string_view WithoutComments(std::string_view sql) {
  while (!sql.empty()) {
    const size_t text = std::min(sql.find_first_not_of(" \t\r\n"), sql.size());
    sql.remove_prefix(text);
    if (!sql.starts_with("--")) break;
    sql.remove_prefix(std::min(sql.find('\n'), sql.size()));
  }
  return sql;
}

NsysSchema Parse(const std::string& where, const std::string& sql) {
  NsysSchema schema;
  const std::string first_line = sql.substr(0, sql.find('\n'));
  schema.product_version = VersionAfter(first_line, "product");
  schema.schema_version = VersionAfter(first_line, "schema");

  // Statements are cut and checked by SQLite itself, by running them on an empty database.
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open(":memory:", &raw);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> db(raw, sqlite3_close_v2);
  if (opened != SQLITE_OK) throw Error(where, "cannot be checked: SQLite is out of memory");
  for (const char* rest = sql.c_str(); *rest != '\0';) {
    const char* begin = rest;
    sqlite3_stmt* statement = nullptr;
    const int prepared = sqlite3_prepare_v2(raw, begin, -1, &statement, &rest);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement, sqlite3_finalize);
    if (prepared != SQLITE_OK) throw Error(where, std::string("is no schema: ") + sqlite3_errmsg(raw));
    if (!statement) continue;  // only a comment
    const std::string_view text = WithoutComments(std::string_view(begin, static_cast<size_t>(rest - begin)));
    if (text.starts_with("CREATE TABLE"))
      schema.tables.emplace_back(text);
    else if (text.starts_with("CREATE INDEX") || text.starts_with("CREATE UNIQUE INDEX"))
      schema.indexes.emplace_back(text);
    else
      throw Error(where, "has a statement that creates neither table nor index: " +
                             std::string(text.substr(0, text.find('\n'))));
    if (sqlite3_step(statement) != SQLITE_DONE)
      throw Error(where, std::string("is no schema: ") + sqlite3_errmsg(raw));
  }
  if (schema.tables.empty()) throw Error(where, "creates no table");
  return schema;
}

}  // namespace

NsysSchema DefaultNsysSchema() {
  const EmbeddedFile& file = EmbeddedNsysSchemas().front();
  return Parse(std::string(file.path), std::string(file.content));
}

NsysSchema ReadNsysSchema(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream sql;
  sql << in.rdbuf();
  if (!in || std::filesystem::is_directory(path)) throw Error(path.string(), "cannot be read");
  return Parse(path.string(), sql.str());
}

}  // namespace dladvisor::example
