// SPDX-License-Identifier: Apache-2.0
// The traces that rocprofv3 writes as CSV, a table a file: PREFIX_kernel_trace.csv, PREFIX_hip_api_trace.csv
// and others, of which those beside the one that is given are read with it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kRocprofCsvImporter;

// A table among those of a run, by its name. Of one run the table that comes first is read with the others;
// those that come after kLastTrace hold no times and say nothing that it does not.
struct PartOfRun {
  static constexpr int kLastTrace = 3;
  std::string run;
  int place = 0;
};
std::optional<PartOfRun> PartOfRunOf(const std::filesystem::path& file);

}  // namespace dladvisor
