// SPDX-License-Identifier: Apache-2.0
// Starts of the worker processes of PyTorch's DataLoaders, and their ends, where nothing of the GPU was
// recorded: an iterator draws a seed for its workers, starts them, draws the order of the samples, and only
// then asks for the first batch; asked for one more than there are, it ends its workers.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct LoaderStartRow {
  int64_t rank = 0;
  int64_t starts = 0, starting_ns = 0, ending_ns = 0, batches = 0, batches_ns = 0;
  double share = 0;
};
const RelationOf<LoaderStartRow>& LoaderStartRelation();

// Between the seed and the first fetch a thread calls nothing but operators that draw the order of samples,
// and nothing at all for as long as starting processes takes.
std::vector<LoaderStartRow> ComputeLoaderStarts(const Context& context);

}  // namespace dladvisor
