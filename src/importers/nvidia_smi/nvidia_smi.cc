// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/nvidia_smi.h"

#include <optional>

#include "src/importers/nvidia_smi/csv_log.h"
#include "src/importers/nvidia_smi/dmon_log.h"
#include "src/importers/nvidia_smi/json_log.h"
#include "src/importers/nvidia_smi/tegrastats_log.h"

namespace dladvisor {
namespace {

Importer::Fit Fits(const Input& input) {
  if (LooksLikeDmonLog(input.head()) || LooksLikeTegrastatsLog(input.head()) ||
      LooksLikeGpuJson(input.head()))
    return Importer::Fit::kYes;
  return LooksLikeGpuCsv(input.head()) ? Importer::Fit::kUnlessAnother : Importer::Fit::kNo;
}

}  // namespace

constinit const Importer kNvidiaSmiImporter = {
    .in_list =
        "log of nvidia-smi (its table, dmon, or --format=csv with the line of headers or with units), or of "
        "GPU "
        "telemetry in JSON",
    .extensions = ".csv",
    .more_extensions = ".jsonl .json",
    .fits = Fits,
    .read =
        [](Input& input) {
          if (LooksLikeTegrastatsLog(input.head())) return std::optional(ReadTegrastatsLog(input.bytes()));
          if (LooksLikeGpuJson(input.head())) return std::optional(ReadGpuJson(input.bytes()));
          return std::optional(LooksLikeDmonLog(input.head()) ? ReadDmonLog(input.bytes())
                                                              : ReadGpuCsv(input.head(), input.bytes()));
        },
};

}  // namespace dladvisor
