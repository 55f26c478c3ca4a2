// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rpd/rpd.h"

#include <optional>
#include <string>

#include "src/importers/rpd/rpd_reader.h"

namespace dladvisor {

constinit const Importer kRpdImporter = {
    .in_list = "database of rocmProfileData (.rpd)",
    .extensions = ".rpd",
    .more_extensions = "",
    .fits =
        [](const Input& input) {
          const sqlite::Database* database = input.database();
          return database != nullptr && database->Has("rocpd_api") && database->Has("rocpd_string")
                     ? Importer::Fit::kYes
                     : Importer::Fit::kNo;
        },
    .read =
        [](Input& input) {
          Trace trace = rpd::Reader(*input.database()).Read();
          trace.path = input.name();
          return std::optional(std::move(trace));
        },
};

}  // namespace dladvisor
