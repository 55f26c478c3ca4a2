// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/event_category.h"

#include <re2/re2.h>

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
  if (found != categories.end()) return found->second;
  // Of other devices: xpu_runtime, mtia_runtime, privateuse1_driver.
  const bool is_call = category.ends_with("_runtime") || category.ends_with("_driver");
  return is_call ? EventCategory::kApiCall : EventCategory::kOther;
}

bool IsDeviceWork(std::string_view category, std::string_view name) {
  static const RE2 no_category(R"(annotation|counter|sync|scope|range|flow|^cuda_event$)");
  static const RE2 no_work(R"((?i)(^|_|\b)(event|wait\w*|record|barrier|synchroni[sz]e|fence|idle)(_|\b|$))");
  return !category.empty() &&
         !RE2::PartialMatch(re2::StringPiece(category.data(), category.size()), no_category) &&
         !RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), no_work);
}

std::string_view LegacyCategory(std::string_view pid) {
  for (const std::string_view category : {kLegacyHost, kLegacyGpu})
    if (pid.size() == category.size() + 2 && pid.substr(1, category.size()) == category) return category;
  return "";
}

}  // namespace dladvisor::kineto
