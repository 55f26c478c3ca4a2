// SPDX-License-Identifier: Apache-2.0
#include "tests/fleet/job_digest.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/analysis/analysis.h"
#include "src/fleet/merge.h"
#include "src/trace/parallel.h"

namespace dladvisor::test {
namespace {

Trace TraceOf(const example::Job& job, int64_t rank, const Recording& recording) {
  const int64_t node = rank / job.options().gpus_per_node;
  Trace trace;
  trace.path = fmt::format("job/rank_{}.sqlite", rank);
  trace.format = "nsys";
  trace.rank = rank;
  trace.world_size = job.options().ranks();
  trace.clock_origin_utc_ns = 1'585'000'000'000'000'000 + node * recording.clock_offset_ns;
  trace.facts["host"] = fmt::format("node{}", node);
  trace.processes.push_back({1, "python"});
  trace.threads.push_back({0, 1, "python"});
  Device& device = trace.devices.emplace_back();
  device.ordinal = rank % job.options().gpus_per_node;
  device.name = "GPU";
  device.sm_count = 80;
  const NameId launch = trace.names.Intern("cudaLaunchKernel_v7000"),
               wait = trace.names.Intern("cudaDeviceSynchronize_v3020");
  const bool half = std::ranges::find(recording.half, rank) != recording.half.end();
  int64_t correlation = 0, steps = 0;
  const auto call = [&](int64_t start, int64_t end, NameId name) {
    ApiCalls& a = trace.api_calls;
    a.start.push_back(start);
    a.end.push_back(end);
    a.thread.push_back(0);
    a.correlation.push_back(++correlation);
    a.name.push_back(name);
    a.result.push_back(0);
  };
  std::vector<example::JobKernel> kernels;
  std::vector<int64_t> correlations;
  job.ForEachStep(rank, [&](const example::JobStep& step) {
    if (half && steps++ >= job.options().steps / 2) return;
    Ranges& r = trace.ranges;
    r.start.push_back(step.start);
    r.end.push_back(step.end);
    r.thread.push_back(0);
    r.name.push_back(trace.names.Intern(fmt::format("epoch1_step{}", step.number)));
    r.domain.push_back(kNoName);
    r.kind.push_back(RangeKind::kPushPop);
    r.open.push_back(0);
    for (const example::JobKernel& kernel : step.kernels) {
      call(kernel.launch, kernel.launch_end, launch);
      kernels.push_back(kernel);
      correlations.push_back(correlation);
    }
    call(step.wait, step.end, wait);
  });
  std::vector<size_t> order(kernels.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return kernels[i].start; });
  for (const size_t i : order) {
    Kernels& k = trace.kernels;
    k.start.push_back(kernels[i].start);
    k.end.push_back(kernels[i].end);
    k.process.push_back(0);
    k.device.push_back(0);
    k.stream.push_back(kernels[i].stream);
    k.correlation.push_back(correlations[i]);
    k.graph_node.push_back(0);
    k.name.push_back(trace.names.Intern(job.names()[kernels[i].name]));
    k.short_name.push_back(k.name.back());
    k.grid.push_back(kernels[i].grid);
    k.block.push_back(256);
    k.registers.push_back(32);
    k.shared_bytes.push_back(0);
  }
  return trace;
}

}  // namespace

Digest DigestOfJob(const example::Job& job, const Recording& recording) {
  std::vector<int64_t> ranks = recording.ranks;
  if (ranks.empty())
    for (int64_t rank = 0; rank < job.options().ranks(); ++rank) ranks.push_back(rank);
  std::vector<Digest> digests(ranks.size());
  ParallelFor(ranks.size(), [&](size_t i) { digests[i] = Analyze(TraceOf(job, ranks[i], recording)); });
  std::vector<RankIdentity> identities;
  Digest merged = MergeDigests(digests, identities);
  CompareRanks(merged, identities);
  return merged;
}

}  // namespace dladvisor::test
