// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/words/nvidia_smi_words.h"

#include "src/capture/capability.h"

namespace dladvisor {
namespace {

// What lets every rule on telemetry decide.
constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
    {capability::kTelemetry,
     "--query-gpu=timestamp,index,utilization.gpu,memory.used,memory.total,power.draw,power.limit,"
     "temperature.gpu,clocks.sm,clocks.max.sm,clocks_event_reasons.active"},
};

}  // namespace

constinit const CaptureWords kNvidiaSmiWords = {
    .format = "nvidia-smi",
    .options = kOptions,
    .idle_causes = "",
    .idle_causes_beyond_calls = "",
    .no_gpu_work = "",
    .records_operators = false,
};

}  // namespace dladvisor
