// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/words/kineto_words.h"

namespace dladvisor {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOptions = {{
    {"--trace=cuda", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    {"--trace=nvtx", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    {"--cuda-memory-usage=true", "profile_memory=True"},
    {"--sample=process-tree", "with_stack=True"},
    {"--trace=osrt", "with_stack=True"},
    {"--duration=60", "schedule=torch.profiler.schedule(wait=1, warmup=1, active=10)"},
}};

}  // namespace

constinit const CaptureWords kKinetoWords = {
    .format = "kineto",
    .options = kOptions,
    .is_own = [](std::string_view flag) { return !flag.starts_with("--"); },
    .idle_causes = "with_stack=True",
    .idle_causes_beyond_calls = "with_stack=True",
    .records_operators = true,
};

}  // namespace dladvisor
