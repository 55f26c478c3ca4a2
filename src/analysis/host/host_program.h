// SPDX-License-Identifier: Apache-2.0
// What takes the time of a program that uses no GPU, or of which nothing of a GPU was recorded: its operators
// or ranges, and the collectives of hosts that it waits in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct HostProgramRow {
  int64_t rank = 0;
  std::string name;
  bool communication = false, loading = false, updating = false;
  int64_t calls = 0, busy_ns = 0, alone_ns = 0, longest_ns = 0;
  std::optional<std::string> os_call;
  std::optional<int64_t> os_call_ns;
  double share = 0, alone_share = 0;
};
const RelationOf<HostProgramRow>& HostProgramRelation();

// Of a profile with ranges and without GPU work or CUDA calls that ask for any, most time first; no row of
// others.
std::vector<HostProgramRow> ComputeHostProgram(const Context& context);

}  // namespace dladvisor
