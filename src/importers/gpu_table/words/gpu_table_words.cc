// SPDX-License-Identifier: Apache-2.0
#include "src/importers/gpu_table/words/gpu_table_words.h"

#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr std::string_view kReport = "REPORT.nsys-rep in place of its table";

constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
    {capability::kGpuWork, kReport},
    {capability::kRanges, kReport},
};

}  // namespace

constinit const CaptureWords kGpuTableWords = {
    .format = "gpu table",
    .options = kOptions,
    .idle_causes = "--trace=cuda,nvtx,osrt, or give REPORT.nsys-rep in place of its table",
    .idle_causes_beyond_calls = "--trace=cuda,nvtx,osrt, or give REPORT.nsys-rep in place of its table",
    .no_gpu_work = "the table holds no GPU activity",
    .records_operators = false,
};

}  // namespace dladvisor
