// SPDX-License-Identifier: Apache-2.0
#include "examples/data-parallel/exports.h"

#include <fmt/format.h>

#include <algorithm>

#include "examples/generator/nsys_writer.h"

namespace dladvisor::example {
namespace {

constexpr int64_t kStartUtcNs = 1'585'000'000'000'000'000;

void WriteRank(const Job& job, int64_t rank, const std::filesystem::path& path, const NsysSchema& schema,
               int64_t clock_offset_ns) {
  const int64_t node = rank / job.options().gpus_per_node, local = rank % job.options().gpus_per_node;
  const int64_t pid = 1000 + local, tid = pid;
  NsysWriter writer(path, schema);
  SystemInfo system;
  system.gpu_count = job.options().gpus_per_node;
  system.host = fmt::format("node{:03}", node);
  system.framework = "PyTorch";
  system.start_utc_ns = kStartUtcNs + node * clock_offset_ns;
  writer.AddSystem(system);
  GpuInfo gpu;
  gpu.device = local;
  gpu.name = "Tesla V100-SXM3-32GB";
  gpu.memory_bytes = 34'000'000'000;
  gpu.sm_count = 80;
  gpu.compute_major = 7;
  writer.Add(gpu);
  writer.AddProcess(pid, "python");
  writer.AddThread(pid, tid, "python");
  std::vector<StringId> names;
  for (const std::string& name : job.names()) names.push_back(writer.Intern(name));
  const StringId launch = writer.Intern("cudaLaunchKernel_v7000"),
                 wait = writer.Intern("cudaDeviceSynchronize_v3020");
  int64_t correlation = 0, end = 0;
  job.ForEachStep(rank, [&](const JobStep& step) {
    const std::string text = fmt::format("epoch1_step{}-rank{}-640_8-640_8-640_8", step.number, rank);
    writer.Add(RangeRow{step.start, step.end, pid, tid, text});
    for (const JobKernel& kernel : step.kernels) {
      writer.Add(ApiRow{kernel.launch, kernel.launch_end, pid, tid, ++correlation, launch});
      KernelRow row;
      row.start = kernel.start;
      row.end = kernel.end;
      row.pid = pid;
      row.device = local;
      row.stream = kernel.stream;
      row.correlation = correlation;
      row.name = row.short_name = names[kernel.name];
      row.grid = kernel.grid;
      row.block = 256;
      writer.Add(row);
    }
    writer.Add(ApiRow{step.wait, step.end, pid, tid, ++correlation, wait});
    SyncRow sync;
    sync.start = step.wait;
    sync.end = step.end;
    sync.pid = pid;
    sync.device = local;
    sync.correlation = correlation;
    sync.kind = SyncKind::kContext;
    writer.Add(sync);
    end = step.end;
  });
  writer.Finish(end + 1'000'000);
}

}  // namespace

void WriteJob(const Job& job, const std::filesystem::path& folder, const NsysSchema& schema,
              int64_t clock_offset_ns, const std::vector<int64_t>& ranks) {
  std::filesystem::create_directories(folder);
  for (int64_t rank = 0; rank < job.options().ranks(); ++rank)
    if (ranks.empty() || std::ranges::find(ranks, rank) != ranks.end())
      WriteRank(job, rank,
                folder / fmt::format("job_{}_{}.sqlite", rank / job.options().gpus_per_node,
                                     rank % job.options().gpus_per_node),
                schema, clock_offset_ns);
}

}  // namespace dladvisor::example
