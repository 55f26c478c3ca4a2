// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/framework_name.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "src/trace/distinct_names.h"

namespace dladvisor {
namespace {

struct Framework {
  const char* name;
  RE2 kernel, range;
};

// The first that matches counts: PyTorch programs also run Numba's or CuPy's kernels, RAPIDS runs both.
const std::array<Framework, 11>& Frameworks() {
  static const std::array<Framework, 11> frameworks = {{
      {"PyTorch/XLA", RE2(R"(^SyncTensorsGraph)"), RE2(R"(^XLAGraphExecutor|^torch_xla)")},
      {"PyTorch", RE2(R"(\bat::(native|cuda)\b|\bc10::|^triton_(poi|red|per|tem|mm)_|^nvfuser_|_nvfuser_)"),
       RE2(R"(^(aten|c10d|torch)::|^ProfilerStep#|^autograd::|Backward\d*$|\btorch\.)")},
      {"TensorFlow", RE2(R"(\btensorflow::)"), RE2(R"(^tensorflow|^TF-)")},
      {"JAX", RE2(R"(^(loop|input|wrapped|gemm|triton_gemm|triton_softmax)_.*fusion)"),
       RE2(R"(^XlaModule|^jax)")},
      {"PaddlePaddle", RE2(R"(\b(phi|paddle)::)"), RE2(R"(^paddle)")},
      {"RAPIDS", RE2(R"(\b(cudf|cuml|ML|raft|cugraph|cuspatial)::)"), RE2(R"(^(libcudf|cudf|cuml|cugraph))")},
      {"CuPy", RE2(R"(^cupy_)"), RE2(R"(^cupy)")},
      {"Numba", RE2(R"(^cudapy::)"), RE2(R"(^numba\.)")},
      {"ONNX Runtime", RE2(R"(\bonnxruntime::)"), RE2(R"(^onnxruntime)")},
      {"OpenACC", RE2(R"(^__(pgi|nv)_uacc_|_\d+_gpu(__red)?$)"), RE2(R"(^acc_|^OpenACC)")},
      {"OpenMP", RE2(R"(^nvkernel_|__omp_offloading_)"), RE2(R"(^omp_)")},
  }};
  return frameworks;
}

// What DLProf and container images call it: "PyTorch 1.9.0", "TensorFlow (NGC) 21.04".
std::optional<std::string> Stated(const Trace& trace) {
  const auto fact = trace.facts.find("framework");
  if (fact == trace.facts.end()) return std::nullopt;
  for (const Framework& framework : Frameworks())
    if (RE2::PartialMatch(fact->second, "(?i)^" + RE2::QuoteMeta(framework.name))) return framework.name;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FrameworkName(const Trace& trace, const RangeTexts& texts) {
  if (auto stated = Stated(trace)) return stated;
  std::vector<std::string_view> kernels, ranges;
  for (const NameId name : DistinctNames(trace, trace.kernels.name))
    kernels.push_back(trace.names.View(name));
  for (uint32_t i = 0; i < texts.size(); ++i) ranges.push_back(texts.TextAt(i));
  for (const NameId domain : DistinctNames(trace, trace.ranges.domain))
    ranges.push_back(trace.names.View(domain));
  const auto any = [](const std::vector<std::string_view>& names, const RE2& pattern) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), pattern);
    });
  };
  for (const Framework& framework : Frameworks())
    if (any(kernels, framework.kernel) || any(ranges, framework.range)) return framework.name;
  return std::nullopt;
}

}  // namespace dladvisor
