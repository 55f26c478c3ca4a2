// SPDX-License-Identifier: Apache-2.0
// Collectives of each rank by kind: NCCL, RCCL and NVSHMEM kernels in the analysed window. How long they wait
// for other ranks shows in one rank alone only where it is far more than the transfer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

// What collective a kernel is: AllReduce, AllGather, ..., from its name or the framework; else the kernel's
// name.
class CollectiveNames {
 public:
  explicit CollectiveNames(const Context& context) : context_(context) {}
  const std::string& Of(uint32_t kernel);  // REQUIRES: it communicates

 private:
  const Context& context_;
  std::map<std::pair<NameId, size_t>, std::string> names_;  // by kernel's name and framework's collective
};

// Of what this rank gives or gets, the larger; unknown where the framework does not record it.
std::optional<int64_t> BytesOf(const Trace& trace, const Collective& recorded);

// What makes of the rate of a collective that of the links, as NCCL's tests define it.
double BusFactor(std::string_view collective, double ranks);

struct CollectiveRow {
  int64_t rank = 0, device = 0;
  std::string collective;
  int64_t calls = 0;
  std::optional<double> calls_per_step;
  int64_t total_ns = 0, window_ns = 0, exposed_ns = 0;
  double avg_ns = 0, median_ns = 0;
  int64_t max_ns = 0, compute_stream_ns = 0;
  std::optional<int64_t> late_ns, late_steps, waiting_ns;
  std::optional<int64_t> large_calls;
  std::optional<double> best_bus_bandwidth, alike_avg_ns, wide_share;
  int64_t steps = 0;
};
const RelationOf<CollectiveRow>& CollectiveRelation();

std::vector<CollectiveRow> ComputeCollectives(const Context& context,
                                              const std::vector<GpuTimeline>& timelines);

}  // namespace dladvisor
