// SPDX-License-Identifier: Apache-2.0
// A file, or the standard input, that is to be read: opened once, for all importers to look at.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "src/importers/bytes/byte_source.h"
#include "src/importers/sqlite/sqlite_reader.h"

namespace dladvisor {

class Input {
 public:
  // `-` is the standard input. Throws Error where it cannot be opened, or is a SQLite database that is
  // damaged or no file.
  explicit Input(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& name() const { return bytes_.name(); }  // for messages
  ByteSource& bytes() { return bytes_; }
  std::string_view head() const { return bytes_.Head(); }
  bool IsText() const;  // as far as its head shows
  // Null where it is not a SQLite database.
  const sqlite::Database* database() const { return database_ ? &*database_ : nullptr; }

 private:
  std::filesystem::path path_;
  ByteSource bytes_;
  std::optional<sqlite::Database> database_;
};

}  // namespace dladvisor
