// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "src/analysis/context/gpu_estimates.h"
#include "src/analysis/family/family.h"
#include "src/capture/capability.h"

namespace dladvisor {

const RelationOf<GpuRow>& GpuRelation() {
  static const auto relation =
      RelationOf<GpuRow>("gpu", "One row per rank and device with GPU work, in the analysed window.")
          .Key("rank", &GpuRow::rank, kRankNumber, "Rank.")
          .Key("device", &GpuRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("name", &GpuRow::name, Unit::kText, "Model of the GPU.")
          .Column("sm_count", &GpuRow::sm_count, Unit::kCount, "Streaming multiprocessors.")
          .Column("compute_capability", &GpuRow::compute_capability, Unit::kText,
                  "CUDA compute capability, e.g. 8.0.")
          .Column("memory_bytes", &GpuRow::memory_bytes, Unit::kBytes, "Memory of the device.")
          .Column("memory_bytes_per_s", &GpuRow::memory_bytes_per_s, Unit::kBytesPerSecond,
                  "Bandwidth of that memory: of the model, or as the profile records it.")
          .Column("kernels", &GpuRow::kernels, Unit::kCount, "Kernels that start in the window.")
          .Column("kernel_ns", &GpuRow::kernel_ns, Unit::kNanoseconds, "Sum of those kernels' durations.")
          .Column("window_ns", &GpuRow::window_ns, Unit::kNanoseconds, "Length of the analysed window.")
          .Column("span_ns", &GpuRow::span_ns, Unit::kNanoseconds,
                  "From its first operation in the profile to the end of its last one.")
          .Column("busy_ns", &GpuRow::busy_ns, Unit::kNanoseconds,
                  "Time with a kernel, copy, set or graph running (union).")
          .Column("kernel_busy_ns", &GpuRow::kernel_busy_ns, Unit::kNanoseconds,
                  "Time with a kernel or graph running (union).")
          .Column("gpu_utilization", &GpuRow::gpu_utilization, Unit::kRatio,
                  "kernel_busy_ns / window_ns, as DLProf defines it.")
          .Column("idle_ns", &GpuRow::idle_ns, Unit::kNanoseconds, "window_ns - busy_ns.")
          .Column("idle_share", &GpuRow::idle_share, Unit::kRatio, "idle_ns / window_ns.")
          .Column("idle_starved_ns", &GpuRow::idle_starved_ns, Unit::kNanoseconds,
                  "Idle time before the launch of the operation that ends it: nothing was queued; unknown "
                  "where launches were not recorded.")
          .Column("starved_gaps", &GpuRow::starved_gaps, Unit::kCount, "Idle gaps with such time.")
          .Column("tensor_core_ns", &GpuRow::tensor_core_ns, Unit::kNanoseconds,
                  "Time of kernels on tensor cores.")
          .Column("tensor_core_unknown_ns", &GpuRow::tensor_core_unknown_ns, Unit::kNanoseconds,
                  "Time of kernels whose name does not show it.")
          .Column("eligible_ns", &GpuRow::eligible_ns, Unit::kNanoseconds,
                  "Kernel time of ops that could use tensor cores.")
          .Column("eligible_unknown_ns", &GpuRow::eligible_unknown_ns, Unit::kNanoseconds,
                  "The part of it whose use of tensor cores is not known.")
          .Column("product_ns", &GpuRow::product_ns, Unit::kNanoseconds,
                  "Time of kernels that are matrix products, convolutions or attention by their own names, "
                  "whatever op launches them.")
          .Column("product_off_ns", &GpuRow::product_off_ns, Unit::kNanoseconds,
                  "The part of it of kernels whose names show that they do without tensor cores.")
          .Column("tensor_core_efficiency", &GpuRow::tensor_core_efficiency, Unit::kRatio,
                  "Tensor-core kernel time / kernel time of eligible ops, as DLProf defines it; unknown "
                  "without such ops, and where names do not show it for half of it.")
          .Column("communication_ns", &GpuRow::communication_ns, Unit::kNanoseconds,
                  "Time with a collective running (union).")
          .Column("work_ns", &GpuRow::work_ns, Unit::kNanoseconds,
                  "busy_ns without the time in which nothing but collectives ran: the GPU's own.")
          .Column("memory_peak_bytes", &GpuRow::memory_peak_bytes, Unit::kBytes,
                  "Most memory allocated at one time.", capability::kDeviceMemory)
          .Column("memory_used_share", &GpuRow::memory_used_share, Unit::kRatio,
                  "That peak over the device's memory.", capability::kDeviceMemory)
          .Column("gpu_ns_per_step", &GpuRow::gpu_ns_per_step, Unit::kNanoseconds,
                  "busy_ns per steady step; unknown without steps.")
          .Column("est_sm_efficiency", &GpuRow::est_sm_efficiency, Unit::kRatio,
                  "Share of the window's multiprocessor time that has a block, if every kernel spreads its "
                  "blocks evenly: mean over the window of min(1, blocks / multiprocessors).")
          .Column("est_achieved_occupancy", &GpuRow::est_achieved_occupancy, Unit::kRatio,
                  "Mean over kernels, weighted by duration, of the share of a multiprocessor's threads that "
                  "the blocks it gets at once keep busy.");
  return relation;
}

std::vector<GpuRow> ComputeGpus(const Context& context, const std::vector<GpuTimeline>& timelines,
                                const OpFamilies& ops, const std::vector<MemoryRow>& memory,
                                const std::vector<GpuPeaks>& peaks, const std::vector<GpuKernels>& kernels) {
  const Trace& trace = context.trace;
  std::vector<GpuRow> rows;
  for (size_t i = 0; i < timelines.size(); ++i) {
    const GpuTimeline& timeline = timelines[i];
    const Device& device = trace.devices[context.ranks.gpus[i].device];
    GpuRow row;
    row.rank = context.ranks.gpus[i].rank;
    row.device = device.ordinal;
    if (!device.name.empty()) row.name = device.name;
    row.sm_count = device.sm_count;
    if (device.compute_major)
      row.compute_capability = fmt::format("{}.{}", *device.compute_major, device.compute_minor.value_or(0));
    row.memory_bytes = device.memory_bytes;
    row.memory_bytes_per_s = peaks[i].memory_bytes_per_s;
    row.window_ns = timeline.window.length();
    row.span_ns = kernels[i].span.length();
    row.kernels = kernels[i].kernels;
    row.kernel_ns = kernels[i].kernel_ns;
    row.tensor_core_ns = kernels[i].tensor_core_ns;
    row.tensor_core_unknown_ns = kernels[i].tensor_core_unknown_ns;
    row.product_ns = kernels[i].product_ns;
    row.product_off_ns = kernels[i].product_off_ns;
    row.kernel_busy_ns = timeline.kernel_busy_ns;
    row.idle_ns = Length(timeline.idle);
    row.busy_ns = row.window_ns - row.idle_ns;
    if (row.window_ns > 0) {
      row.gpu_utilization = static_cast<double>(row.kernel_busy_ns) / static_cast<double>(row.window_ns);
      row.idle_share = static_cast<double>(row.idle_ns) / static_cast<double>(row.window_ns);
    }
    if (timeline.has_launches) {
      row.idle_starved_ns = 0;
      for (const Starvation& starvation : timeline.starvation)
        *row.idle_starved_ns += starvation.time.length();
      row.starved_gaps = timeline.starved_gaps;
    }
    row.eligible_ns = ops.eligible_ns[i];
    row.eligible_unknown_ns = ops.eligible_unknown_ns[i];
    if (2 * row.eligible_unknown_ns < row.eligible_ns)
      row.tensor_core_efficiency =
          static_cast<double>(ops.eligible_tensor_core_ns[i]) / static_cast<double>(row.eligible_ns);
    row.communication_ns = Length(timeline.communication);
    row.work_ns = row.busy_ns - timeline.ledger[static_cast<size_t>(Bucket::kCommunication)];
    row.memory_peak_bytes = memory[i].peak_bytes;
    row.memory_used_share = memory[i].used_share;
    if (const int64_t steps = context.StepCount(row.rank); steps > 0)
      row.gpu_ns_per_step = static_cast<double>(row.busy_ns) / static_cast<double>(steps);
    row.est_sm_efficiency = kernels[i].estimates.sm_efficiency;
    row.est_achieved_occupancy = kernels[i].estimates.achieved_occupancy;
    rows.push_back(std::move(row));
  }
  return rows;
}

const Family& GpuFamily() {
  static const Family family = FamilyOf<std::vector<GpuRow>>(GpuRelation());
  return family;
}

}  // namespace dladvisor
