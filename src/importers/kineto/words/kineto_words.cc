// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/words/kineto_words.h"

#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
    {capability::kGpuWork, "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    {capability::kRanges, "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    {capability::kDeviceMemory, "profile_memory=True"},
    {capability::kOperatorShapes, "record_shapes=True"},
    {capability::kMoreTime, "schedule=torch.profiler.schedule(wait=1, warmup=1, active=10)"},
    {capability::kPythonCalls, "with_stack=True"},
    {capability::kCpuStacks, "with_stack=True"},
};

constexpr std::pair<std::string_view, std::string_view> kRocprofOptions[] = {
    {capability::kGpuWork, "--hip-trace"},
    {capability::kRanges, "--roctx-trace"},
};

// Of a trace that another tool wrote.
constexpr std::string_view kWholeProfile = "nsys profile --trace=cuda,nvtx,osrt, or torch.profiler";

constexpr std::pair<std::string_view, std::string_view> kGpuTraceOptions[] = {
    {capability::kGpuWork, kWholeProfile},
    {capability::kRanges, kWholeProfile},
};

}  // namespace

constinit const CaptureWords kRocprofWords = {
    .format = "rocprof",
    .options = kRocprofOptions,
    .idle_causes = "--hip-trace --roctx-trace",
    .idle_causes_beyond_calls = "--roctx-trace",
    .no_gpu_work = "the trace holds no GPU activity: it was not recorded, or the run has none",
    .records_operators = false,
};

constinit const CaptureWords kTimelineWords = {
    .format = "timeline",
    .options = {},
    .idle_causes = "",
    .idle_causes_beyond_calls = "",
    .no_gpu_work = "the trace holds no GPU activity: it was not recorded, or the run has none",
    .records_operators = true,
};

constinit const CaptureWords kGpuTraceWords = {
    .format = "gpu trace",
    .options = kGpuTraceOptions,
    .idle_causes = kWholeProfile,
    .idle_causes_beyond_calls = kWholeProfile,
    .no_gpu_work = "the trace holds no GPU activity",
    .records_operators = false,
};

constinit const CaptureWords kSpanTraceWords = {
    .format = "span trace",
    .options = {},
    .idle_causes = "",
    .idle_causes_beyond_calls = "",
    .no_gpu_work = "",
    .records_operators = false,
};

constinit const CaptureWords kKinetoWords = {
    .format = "kineto",
    .options = kOptions,
    .idle_causes = "with_stack=True",
    .idle_causes_beyond_calls = "with_stack=True",
    .no_gpu_work = "the trace holds no GPU activity: it was not recorded, or the run has none",
    .records_operators = true,
};

}  // namespace dladvisor
