// SPDX-License-Identifier: Apache-2.0
// Of a GPU on which an allocation failed: its memory, and what of it is not the failing process's.
#pragma once

namespace dladvisor {

struct MemoryTaken {
  double total_bytes = 0, others_bytes = 0;
};

}  // namespace dladvisor
