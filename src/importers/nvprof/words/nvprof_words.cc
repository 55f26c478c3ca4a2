// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvprof/words/nvprof_words.h"

#include "src/capture/capability.h"

namespace dladvisor {
namespace {

// Those of Nsight Systems, which replaces nvprof and records what it does not.
constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
    {capability::kGpuWork, "Nsight Systems (nsys profile --trace=cuda,nvtx)"},
    {capability::kRanges, "Nsight Systems (nsys profile --trace=cuda,nvtx)"},
};

}  // namespace

constinit const CaptureWords kNvprofWords = {
    .format = "nvprof",
    .options = kOptions,
    .idle_causes = "Nsight Systems, which replaces nvprof: nsys profile --trace=cuda,nvtx,osrt",
    .idle_causes_beyond_calls = "Nsight Systems, which replaces nvprof: nsys profile --trace=cuda,nvtx,osrt",
    .no_gpu_work =
        "the database holds no GPU activity: it was not recorded, or the program made no CUDA call",
    .records_operators = false,
};

}  // namespace dladvisor
