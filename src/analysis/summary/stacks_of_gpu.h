// SPDX-License-Identifier: Apache-2.0
// What stacks of the host show of a GPU of which no launch was recorded: that the program calls it, and that
// it waits for it to the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/trace/trace.h"

namespace dladvisor {

struct StacksOfGpu {
  // The first in alphabetic order.
  std::optional<std::string> call;
  // Of the thread that is in one for longest, up to the last of its samples that has a stack.
  std::optional<std::string> wait;
  std::optional<int64_t> wait_ns;
};
StacksOfGpu FindStacksOfGpu(const Trace& trace);

}  // namespace dladvisor
