// SPDX-License-Identifier: Apache-2.0
// What the host does in calls that copy: it waits for kernels that were queued before the copy, then stages
// and copies. Of a GPU that idles meanwhile, only the second is a wait for a copy.
#pragma once

#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

// By API call.
struct CopyCalls {
  // Whether it copies pageable memory: it stages that, and returns late even where asked not to wait.
  std::vector<bool> pageable;
  // Until when it waits for kernels of the copy's stream; its start where it does not, as where it returns
  // before they end.
  std::vector<Ns> waits_until;
};

CopyCalls FindCopyCalls(const Context& context);

}  // namespace dladvisor
