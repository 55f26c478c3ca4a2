// SPDX-License-Identifier: Apache-2.0
// What an error says of a GPU's memory: how much of it another holds than the process that found none.
#pragma once

#include <optional>
#include <string_view>

#include "src/trace/memory_taken.h"

namespace dladvisor::training_log {

// Of PyTorch's "CUDA out of memory" in its old and new words, and of vLLM's start; nothing where the line
// does not say all of it. What the process holds beside its allocator (the CUDA context, some 0.5 GiB) counts
// as another's where the words leave it out.
std::optional<MemoryTaken> MemoryTakenIn(std::string_view line);

}  // namespace dladvisor::training_log
