// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/event_category.h"

#include <map>

namespace dladvisor::kineto {

EventCategory EventCategoryOf(std::string_view category) {
  static const std::map<std::string_view, EventCategory> categories = {
      {"kernel", EventCategory::kKernel},
      {"Kernel", EventCategory::kKernel},
      {"gpu_memcpy", EventCategory::kCopy},
      {"Memcpy", EventCategory::kCopy},
      {"gpu_memset", EventCategory::kSet},
      {"Memset", EventCategory::kSet},
      {"cuda_runtime", EventCategory::kApiCall},
      {"Runtime", EventCategory::kApiCall},
      {"cuda_driver", EventCategory::kApiCall},
      {"hip_runtime", EventCategory::kApiCall},
      {"cuda_sync", EventCategory::kSync},
      {"cpu_op", EventCategory::kOperator},
      {"Operator", EventCategory::kOperator},
      {"user_annotation", EventCategory::kAnnotation},
      {"python_function", EventCategory::kPythonFunction},
      {"overhead", EventCategory::kOverhead},
      {"graph_event_node", EventCategory::kGraphEvent},
      {"Trace", EventCategory::kSpan},
      {"gpu_user_annotation", EventCategory::kMirrored},
      {"cuda_profiler_range", EventCategory::kCounters},
      {kLegacyHost, EventCategory::kOperator},
      {kLegacyGpu, EventCategory::kMirrored},
  };
  const auto found = categories.find(category);
  return found == categories.end() ? EventCategory::kOther : found->second;
}

std::string_view LegacyCategory(std::string_view pid) {
  for (const std::string_view category : {kLegacyHost, kLegacyGpu})
    if (pid.size() == category.size() + 2 && pid.substr(1, category.size()) == category) return category;
  return "";
}

}  // namespace dladvisor::kineto
