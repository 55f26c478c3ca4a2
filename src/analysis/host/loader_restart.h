// SPDX-License-Identifier: Apache-2.0
// Ends of epochs at which a DataLoader of PyTorch ends its worker processes and starts new ones: the loader
// is asked for a batch that it does not have, and the next time the host asks is of a new iterator, whose
// workers start, import the program and load before they answer.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

// Whether a range is of asking a loader with worker processes for a batch.
bool IsFetchFromWorkers(std::string_view name);
// Whether the thread calls the GPU's API in that time.
bool CallsTheApi(const Trace& trace, uint32_t thread, Interval time);

struct LoaderRestartRow {
  int64_t rank = 0;
  int64_t restarts = 0, ending_ns = 0, starting_ns = 0, first_ns = 0;
  double window_share = 0;
};
const RelationOf<LoaderRestartRow>& LoaderRestartRelation();

// Two fetches from worker processes by one thread, with long enough between them to start a process, a seed
// drawn for the new workers, hardly another operator and no call of the GPU's API, within the host's time for
// the steady steps. Workers that are kept draw none.
std::vector<LoaderRestartRow> ComputeLoaderRestarts(const Context& context);

}  // namespace dladvisor
