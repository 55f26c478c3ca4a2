// SPDX-License-Identifier: Apache-2.0
#include "src/render/color.h"

#include <utility>

namespace dladvisor {

std::string ColorOf(std::string_view category) {
  static constexpr std::pair<std::string_view, const char*> kColors[] = {
      {"compute/tensor", "c-tensor"},
      {"compute/other", "c-compute"},
      {"communication/waiting", "c-wait"},
      {"communication", "c-comm"},
      {"copy", "c-copy"},
      {"memset", "c-memset"},
      {"idle/sync", "c-idle1"},
      {"idle/copy", "c-idle2"},
      {"idle/allocation", "c-idle3"},
      {"idle/input", "c-idle4"},
      {"idle/launch-latency", "c-idle9"},
      {"idle/launch", "c-idle5"},
      {"idle/host", "c-idle7"},
      {"idle/dependency", "c-idle8"},
      {"idle/compilation", "c-idle10"},
      {"idle/communication", "c-idle11"},
      {"idle/checkpoint", "c-idle12"},
      {"idle/garbage-collection", "c-idle13"},
      {"idle/os", "c-idle14"},
      {"idle/profiler", "c-idle15"},
      {"idle/", "c-idle6"},
      {"Using Tensor Cores", "c-tensor"},
      {"Not Using Tensor Cores", "c-compute"},
      {"Eligible, not using", "c-warn"},
      {"Not eligible", "c-compute"},
      {"Use not known", "c-other"},
      {"Memory", "c-copy"},
      {"Dataloader", "c-idle4"},
      {"I/O", "c-comm"},
      {"CPU", "c-idle5"},
  };
  for (const auto& [prefix, color] : kColors)
    if (category.starts_with(prefix)) return color;
  return "c-other";
}

}  // namespace dladvisor
