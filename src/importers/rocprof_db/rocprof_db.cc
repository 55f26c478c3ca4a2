// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_db/rocprof_db.h"

#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "src/importers/rocprof_db/rocprof_db_reader.h"

namespace dladvisor {

constinit const Importer kRocprofDatabaseImporter = {
    .in_list = "",
    .extensions = "",
    .more_extensions = ".db",
    .fits =
        [](const Input& input) {
          const sqlite::Database* database = input.database();
          return database != nullptr && rocprof_db::IsRocprof(*database) ? Importer::Fit::kYes
                                                                         : Importer::Fit::kNo;
        },
    .read =
        [](Input& input) {
          rocprof_db::Reader reader(*input.database());
          if (!reader.HasTimes())
            throw WrongKind(
                input.name(), "a database of rocprof without times of kernels or calls",
                "record them: rocprof --hip-trace --roctx-trace PROGRAM, or rocprof --timestamp on "
                "PROGRAM for kernels alone");
          Trace trace = reader.Read();
          trace.path = input.name();
          return std::optional(std::move(trace));
        },
};

}  // namespace dladvisor
