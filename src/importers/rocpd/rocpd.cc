// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocpd/rocpd.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "engine/base/error.h"
#include "src/importers/rocpd/rocpd_reader.h"

namespace dladvisor {
namespace {

constexpr std::string_view kTable = "rocpd_info_process";

bool IsRocpd(const sqlite::Database& database) {
  return std::ranges::any_of(database.tables(),
                             [](const auto& table) { return table.first.starts_with(kTable); });
}

// Tables are written once for each process, and end in its id.
Trace Read(const sqlite::Database& database) {
  rocm::RocmTrace rows("rocprofv3", "rocprofv3");
  std::set<std::string> machines;
  for (const auto& [name, page] : database.tables()) {
    if (!name.starts_with(kTable)) continue;
    rocpd::Reader reader(database, name.substr(kTable.size()), rows);
    if (!reader.HasTimes())
      throw WrongKind(database.path(), "a database of rocpd of a version that dladvisor does not read",
                      "convert it with the rocpd that wrote it: rocpd convert -i FILE --output-format csv");
    reader.Read();
    machines.insert(reader.machines().begin(), reader.machines().end());
  }
  if (machines.size() > 1)
    throw WrongKind(database.path(), "a database of rocpd that holds several hosts",
                    "give dladvisor the database of each host as a file of its own");
  Trace trace = rows.Finish();
  trace.path = database.path();
  return trace;
}

}  // namespace

constinit const Importer kRocpdImporter = {
    .in_list = "database of rocprofv3 (.db)",
    .extensions = ".db",
    .more_extensions = "",
    .fits =
        [](const Input& input) {
          return input.database() != nullptr && IsRocpd(*input.database()) ? Importer::Fit::kYes
                                                                           : Importer::Fit::kNo;
        },
    .read = [](Input& input) { return std::optional(Read(*input.database())); },
};

}  // namespace dladvisor
