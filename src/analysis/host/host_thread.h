// SPDX-License-Identifier: Apache-2.0
// Threads that launch GPU work: where and how much they ran, by the context switches that were recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct HostThreadRow {
  int64_t rank = 0, thread = 0;
  std::optional<std::string> name;
  int64_t launches = 0;
  std::optional<int64_t> cpus, migrations, running_ns;
  std::optional<double> running_share;
};
const RelationOf<HostThreadRow>& HostThreadRelation();

// Most launches first.
std::vector<HostThreadRow> ComputeHostThreads(const Context& context);

}  // namespace dladvisor
