// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/other_trace.h"

#include <algorithm>

namespace dladvisor::kineto {
namespace {

// Of Huawei's profiler, which torch_npu merges with the operators of PyTorch.
constexpr std::string_view kAscend = "Ascend Hardware";

bool Any(const ProcessNames& names, std::string_view part) {
  return std::ranges::any_of(names,
                             [&](const auto& name) { return name.second.find(part) != std::string::npos; });
}

}  // namespace

std::string_view AcceleratorOf(const ProcessNames& names) { return Any(names, kAscend) ? kAscend : ""; }

std::optional<OtherTrace> OtherTraceOf(const ProcessNames& names) {
  if (Any(names, kAscend))
    return OtherTrace{
        "a trace of Ascend's profiler without operators of PyTorch, which dladvisor does not read",
        "read it with MindStudio Insight or msprof-analyze"};
  if (Any(names, "/device:TPU"))
    return OtherTrace{"a trace of a TPU by XLA's profiler, which dladvisor does not read",
                      "read it with XProf (pip install xprof; xprof LOGDIR)"};
  // As "/device:GPU:0 (pid 1)" and "/host:CPU", of TensorFlow also behind "/job:localhost/replica:0/task:0".
  if (Any(names, "/device:") || Any(names, "/host:"))
    return OtherTrace{
        "a trace of XLA's profiler, as JAX and TensorFlow write, which dladvisor does not read",
        "read it with XProf (pip install xprof; xprof LOGDIR), or, on NVIDIA GPUs, record the program "
        "with Nsight Systems (nsys profile --trace=cuda,nvtx -o run PROGRAM) and give run.nsys-rep"};
  return std::nullopt;
}

}  // namespace dladvisor::kineto
