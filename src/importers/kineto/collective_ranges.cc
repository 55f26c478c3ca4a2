// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/collective_ranges.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor::kineto {
namespace {

using nlohmann::json;

constexpr std::string_view kAnnotation = "nccl:";
constexpr int64_t kMostElements = int64_t{1} << 40;

bool IsOfLibrary(std::string_view kernel) {
  return kernel.find("nccl") != std::string_view::npos || kernel.find("rccl") != std::string_view::npos;
}

// Whether a rank gets about as much as it gives.
bool GivesWhatItGets(std::string_view name) {
  return name.find("gather") == std::string_view::npos && name.find("scatter") == std::string_view::npos;
}

// Of all tensors of a list "[[6144], [16, 4]]"; -1 where one is not of this type or has no size.
int64_t ElementsOf(std::string_view shapes, const json& types) {
  const json list = json::parse(shapes, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array() || list.empty() || list.size() != types.size()) return -1;
  int64_t sum = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_array() || list[i].empty() || types[i] != types[0]) return -1;
    int64_t elements = 1;
    for (const json& size : list[i]) {
      if (!size.is_number_integer()) return -1;
      const auto length = size.get<int64_t>();
      if (length < 0 || (length > 0 && elements > kMostElements / length)) return -1;
      elements *= length;
    }
    if (elements > kMostElements - sum) return -1;
    sum += elements;
  }
  return sum;
}

Collective CollectiveOf(Trace& trace, size_t range) {
  const std::string title(trace.names.View(trace.ranges.name[range]).substr(kAnnotation.size()));
  Collective collective;
  const OperatorArguments& arguments =
      trace.operator_arguments[static_cast<size_t>(trace.ranges.arguments[range])];
  if (arguments.shapes != kNoName && arguments.types != kNoName) {
    const json types = json::parse(trace.names.View(arguments.types), nullptr, /*allow_exceptions=*/false);
    if (types.is_array() && !types.empty() && types[0].is_string()) {
      const int64_t elements = ElementsOf(trace.names.View(arguments.shapes), types);
      if (elements >= 0) collective.dtype = trace.names.Intern(types[0].get_ref<const std::string&>());
      if (GivesWhatItGets(title)) collective.in_elements = elements;
    }
  }
  collective.name = trace.names.Intern(title);
  return collective;
}

}  // namespace

void NameCollectivesByRanges(Trace& trace, gpu_rows::Tables& tables) {
  const Ranges& ranges = trace.ranges;
  Kernels& kernels = trace.kernels;
  if (ranges.arguments.size() != ranges.size() || kernels.collective.size() != kernels.size()) return;
  std::map<uint32_t, std::vector<size_t>> annotations;  // by thread, in order of start
  for (size_t i = 0; i < ranges.size(); ++i)
    if (trace.names.View(ranges.name[i]).starts_with(kAnnotation)) annotations[ranges.thread[i]].push_back(i);
  if (annotations.empty()) return;
  std::map<int64_t, std::vector<size_t>> unnamed;  // kernels, by correlation
  for (size_t k = 0; k < kernels.size(); ++k)
    if (kernels.collective[k] == 0 && kernels.correlation[k] != kNoCorrelation &&
        IsOfLibrary(trace.names.View(kernels.name[k])))
      unnamed[kernels.correlation[k]].push_back(k);

  std::map<size_t, int64_t> known;  // collectives, by range
  for (size_t i = 0; i < trace.api_calls.size() && !unnamed.empty(); ++i) {
    const auto launched = unnamed.find(trace.api_calls.correlation[i]);
    const auto of_thread = annotations.find(trace.api_calls.thread[i]);
    if (launched == unnamed.end() || of_thread == annotations.end()) continue;
    // Annotations of one collective do not overlap those of another.
    const Ns at = trace.api_calls.start[i];
    const auto after = std::ranges::upper_bound(of_thread->second, at, {},
                                                [&](size_t range) { return ranges.start[range]; });
    if (after == of_thread->second.begin() || ranges.end[*(after - 1)] < at) continue;
    const auto [collective, is_new] = known.try_emplace(*(after - 1), 0);
    if (is_new) collective->second = tables.Collective(CollectiveOf(trace, collective->first));
    for (const size_t k : launched->second) kernels.collective.Set(k, collective->second);
    unnamed.erase(launched);
  }
}

}  // namespace dladvisor::kineto
