// SPDX-License-Identifier: Apache-2.0
#include "src/importers/xla/words/xla_words.h"

#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
    {capability::kPythonCalls, "python_tracer_level=1"},
    {capability::kCpuStacks, "python_tracer_level=1"},
    {capability::kMoreTime, "more steps between start_trace and stop_trace"},
};

}  // namespace

constinit const CaptureWords kXlaWords = {
    .format = "xla",
    .options = kOptions,
    .idle_causes = "python_tracer_level=1 in the options of the profiler",
    .idle_causes_beyond_calls = "python_tracer_level=1 in the options of the profiler",
    .no_gpu_work =
        "the trace holds no GPU activity, as of a program that ran on the CPU or of which it was not "
        "recorded",
    .records_operators = false,
};

}  // namespace dladvisor
