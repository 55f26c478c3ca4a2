// SPDX-License-Identifier: Apache-2.0
// Which tables and columns an Nsight Systems export has: sets of both changed from release to release.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dladvisor::example {

struct NsysSchema {
  std::vector<std::string> tables, indexes;     // CREATE statements; indexes are built after the rows
  std::string product_version, schema_version;  // "" where the release wrote none
};

// That of DLProf's time (2022.1), built into the program.
NsysSchema DefaultNsysSchema();

// Reads CREATE TABLE and CREATE INDEX statements. A first line that says "product 2022.1.3.3 schema 2.9.1"
// gives the versions. Throws Error for any other statement and for SQL that SQLite refuses.
NsysSchema ReadNsysSchema(const std::filesystem::path& path);

}  // namespace dladvisor::example
