// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/words/nsys_words.h"

#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
    {capability::kGpuWork, "--trace=cuda"},
    {capability::kRanges, "--trace=nvtx"},
    {capability::kOsCalls, "--trace=osrt"},
    {capability::kMessageCalls, "--trace=mpi,ucx"},
    {capability::kThreadStates, "--cpuctxsw=process-tree"},
    {capability::kDeviceMemory, "--cuda-memory-usage=true"},
    {capability::kCpuPageFaults, "--cuda-um-cpu-page-faults=true"},
    {capability::kGpuPageFaults, "--cuda-um-gpu-page-faults=true"},
    {capability::kMoreTime, "--trace=cuda,nvtx --duration=60"},
    {capability::kGpuMetrics, "--gpu-metrics-devices=all"},
    {capability::kCpuStacks, "--sample=process-tree"},
    {capability::kOperatorShapes, "emit_nvtx(record_shapes=True)"},
};

}  // namespace

constinit const CaptureWords kNsysWords = {
    .format = "nsys",
    .options = kOptions,
    .idle_causes = "--trace=cuda,nvtx,osrt",
    .idle_causes_beyond_calls = "--sample=process-tree --cpuctxsw=process-tree",
    .no_gpu_work = "the capture holds no CUDA tables: it was not traced, or the program made no CUDA call",
    .records_operators = false,
};

}  // namespace dladvisor
