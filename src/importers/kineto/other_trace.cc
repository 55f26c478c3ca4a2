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
  return std::nullopt;
}

}  // namespace dladvisor::kineto
