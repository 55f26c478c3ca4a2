// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/nvidia_smi.h"

#include <optional>

#include "src/importers/nvidia_smi/csv_log.h"
#include "src/importers/nvidia_smi/dmon_log.h"
#include "src/importers/nvidia_smi/tegrastats_log.h"

namespace dladvisor {
namespace {

Importer::Fit Fits(const Input& input) {
  if (LooksLikeDmonLog(input.head()) || LooksLikeTegrastatsLog(input.head())) return Importer::Fit::kYes;
  return LooksLikeGpuCsv(input.head()) ? Importer::Fit::kUnlessAnother : Importer::Fit::kNo;
}

}  // namespace

constinit const Importer kNvidiaSmiImporter = {
    .in_list = "log of nvidia-smi (its table, dmon, or --format=csv with the line of headers or with units)",
    .extensions = ".csv",
    .more_extensions = "",
    .fits = Fits,
    .read =
        [](Input& input) {
          if (LooksLikeTegrastatsLog(input.head())) return std::optional(ReadTegrastatsLog(input.bytes()));
          return std::optional(LooksLikeDmonLog(input.head()) ? ReadDmonLog(input.bytes())
                                                              : ReadGpuCsv(input.head(), input.bytes()));
        },
};

}  // namespace dladvisor
