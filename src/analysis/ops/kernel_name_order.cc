// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/kernel_name_order.h"

#include <algorithm>

namespace dladvisor {

KernelNameOrder ComputeKernelNameOrder(const Context& context) {
  const Trace& trace = context.trace;
  KernelNameOrder names{std::vector<uint32_t>(context.kernels.size(), kNoIndex)};
  for (const NameId name : trace.kernels.name) names.place[name] = 0;
  std::vector<NameId> order;
  for (NameId name = 0; name < names.place.size(); ++name)
    if (names.place[name] == 0) order.push_back(name);
  std::sort(order.begin(), order.end(),
            [&](NameId a, NameId b) { return trace.names.View(a) < trace.names.View(b); });
  for (uint32_t place = 0; place < order.size(); ++place) names.place[order[place]] = place;
  return names;
}

}  // namespace dladvisor
