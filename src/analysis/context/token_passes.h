// SPDX-License-Identifier: Apache-2.0
// The loop of a language model that generates token after token, by its operators: each pass looks up the
// embeddings of its tokens, multiplies, and ends with the choice of a token. Kernels need not repeat there:
// libraries choose others as the sequence grows.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "src/analysis/context/passes.h"
#include "src/trace/trace.h"

namespace dladvisor {

// By thread: from the first look-up of each pass to the first one after its product and choice. What follows
// the last look-up, which may be cut off, is left out.
std::map<uint32_t, std::vector<StepRange>> TokenPasses(const Trace& trace);

}  // namespace dladvisor
