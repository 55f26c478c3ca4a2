// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/other_trace.h"

#include <re2/re2.h>

#include <algorithm>

namespace dladvisor::kineto {
namespace {

// Of Huawei's profiler, which torch_npu merges with the operators of PyTorch.
constexpr std::string_view kAscend = "Ascend Hardware";

bool Any(const ProcessNames& names, std::string_view part) {
  return std::ranges::any_of(names,
                             [&](const auto& name) { return name.second.find(part) != std::string::npos; });
}

// The kind of a process that XLA's profiler names: "/host:CPU", or a device, as "/device:GPU:0 (pid 1)"; of
// TensorFlow also behind "/job:localhost/replica:0/task:0". "" for others.
std::string_view XlaKind(const std::string& process) {
  static const RE2 name(
      R"(^(?:/job:[^/]+)?(?:/replica:\d+)?(?:/task:\d+)?/(?:host:(CPU)|device:(?:XLA_)?(CPU|GPU|TPU|CUSTOM):\d+)\b)");
  re2::StringPiece host, device;
  if (!RE2::PartialMatch(process, name, &host, &device)) return "";
  const re2::StringPiece& kind = host.empty() ? device : host;
  return {kind.data(), kind.size()};
}

}  // namespace

std::string_view AcceleratorOf(const ProcessNames& names) { return Any(names, kAscend) ? kAscend : ""; }

std::optional<OtherTrace> OtherTraceOf(const ProcessNames& names) {
  if (Any(names, kAscend))
    return OtherTrace{
        "a trace of Ascend's profiler without operators of PyTorch, which dladvisor does not read",
        "read it with MindStudio Insight or msprof-analyze"};
  const auto any_of_xla = [&](std::string_view kind) {
    return std::ranges::any_of(names, [&](const auto& name) {
      const std::string_view of = XlaKind(name.second);
      return kind.empty() ? !of.empty() : of == kind;
    });
  };
  if (any_of_xla("TPU"))
    return OtherTrace{"a trace of a TPU by XLA's profiler, which dladvisor does not read",
                      "read it with XProf (pip install xprof; xprof LOGDIR)"};
  if (any_of_xla(""))
    return OtherTrace{
        "a trace of XLA's profiler, as JAX and TensorFlow write, which dladvisor does not read",
        "read it with XProf (pip install xprof; xprof LOGDIR), or, on NVIDIA GPUs, record the program "
        "with Nsight Systems (nsys profile --trace=cuda,nvtx -o run PROGRAM) and give run.nsys-rep"};
  return std::nullopt;
}

}  // namespace dladvisor::kineto
