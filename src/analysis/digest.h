// SPDX-License-Identifier: Apache-2.0
// What analyses make of a profile, or of several: what ranks send each other, what a gate keeps as baseline
// and history stores, and what rules are run on.
#pragma once

#include <string_view>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/communication/collective_track.h"
#include "src/analysis/ranks/kernel_sequence.h"

namespace dladvisor {

struct Digest {
  std::vector<Table> relations;
  // What ranks are compared by.
  std::vector<KernelSequence> sequences;
  std::vector<CollectiveTrack> collectives;

  // The relation of that name; null where it has none.
  const Table* Find(std::string_view name) const;
};

}  // namespace dladvisor
