// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvprof/nvprof.h"

#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "src/importers/nvprof/nvprof_reader.h"

namespace dladvisor {

constinit const Importer kNvprofImporter = {
    .in_list = "database of nvprof (.nvprof, .nvvp)",
    .extensions = ".nvprof .nvvp",
    .more_extensions = ".prof",
    .fits =
        [](const Input& input) {
          const sqlite::Database* database = input.database();
          return database != nullptr && nvprof::IsNvprof(*database) ? Importer::Fit::kYes
                                                                    : Importer::Fit::kNo;
        },
    .read =
        [](Input& input) {
          if (nvprof::HoldsCountersOnly(*input.database()))
            throw WrongKind(
                input.name(),
                "a database of nvprof with counters or metrics, for which it ran kernels one by one and "
                "each again and again, so that its times are not those of the program",
                "record the program without them: nsys profile --trace=cuda,nvtx -o run PROGRAM, or "
                "nvprof -o run.nvprof PROGRAM");
          Trace trace = nvprof::Reader(*input.database()).Read();
          trace.path = input.name();
          return std::optional(std::move(trace));
        },
};

}  // namespace dladvisor
