// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocm/words/rocm_words.h"

#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
    {capability::kGpuWork, "--kernel-trace --memory-copy-trace --hip-runtime-trace"},
    {capability::kRanges, "--marker-trace"},
    {capability::kDeviceMemory, "--memory-allocation-trace"},
};

constexpr std::pair<std::string_view, std::string_view> kRpdOptions[] = {
    {capability::kRanges, "ranges of roctx in the program"},
};

}  // namespace

constinit const CaptureWords kRocprofV3Words = {
    .format = "rocprofv3",
    .options = kOptions,
    .idle_causes = "--hip-runtime-trace --marker-trace",
    .idle_causes_beyond_calls = "--marker-trace",
    .no_gpu_work = "the profile holds no GPU activity: it was not recorded, or the run has none",
    .records_operators = false,
};

constinit const CaptureWords kRpdWords = {
    .format = "rpd",
    .options = kRpdOptions,
    .idle_causes = "ranges of roctx in the program",
    .idle_causes_beyond_calls = "ranges of roctx in the program",
    .no_gpu_work = "the profile holds no GPU activity: it was not recorded, or the run has none",
    .records_operators = false,
};

}  // namespace dladvisor
