// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/kernel_name.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/context/occupancy.h"
#include "src/analysis/context/tensor_core.h"
#include "src/analysis/family/family.h"
#include "src/hardware/precision.h"
#include "src/statistics/quantile.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

// Sample standard deviation, in two passes so that nanoseconds do not cancel.
std::optional<double> Deviation(std::span<const int64_t> values, double mean) {
  if (values.size() < 2) return std::nullopt;
  double squares = 0;
  for (const int64_t v : values) squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

constexpr int64_t kWarp = 32;

// What is summed up of the kernels of one name, in order of start.
struct Sums {
  size_t first = 0, next = 0;  // where its durations are, and where the next one goes
  NameId short_name = kNoName;
  int64_t total_ns = 0, window_ns = 0, window_count = 0, grid_min = 0, grid_max = 0, tail_ns = 0;
  int64_t serial_ns = 0, serial_count = 0;  // of the window's, with no more threads than a warp
  double grid = 0, block = 0;
  double blocks = 0, occupancy = 0;                    // per multiprocessor, times nanoseconds
  bool blocks_known = false, occupancy_known = false;  // of any
  BlockFit fit;                                        // fewest blocks that a multiprocessor holds
  int64_t registers = 0, local = -1;                   // most of a thread; -1 where not recorded
  bool tail_known = true, shape_known = true, fit_known = true, one_limit = true;
};

// In one pass over the GPU's kernels in order of start, since a pass by name would jump through every column.
// By the means of eight equal parts of executions, which are in order of time: 1 where all rise, -1 where all
// fall, else 0.
std::optional<int> Drift(std::span<const int64_t> durations) {
  constexpr size_t kParts = 8, kLeastOfPart = 2;
  if (durations.size() < kParts * kLeastOfPart) return std::nullopt;
  size_t rises = 0, falls = 0;
  double before = 0;
  for (size_t part = 0; part < kParts; ++part) {
    const size_t first = part * durations.size() / kParts, end = (part + 1) * durations.size() / kParts;
    const double sum = std::accumulate(durations.begin() + static_cast<std::ptrdiff_t>(first),
                                       durations.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    const double mean = sum / static_cast<double>(end - first);
    if (part > 0) {
      rises += mean > before;
      falls += mean < before;
    }
    before = mean;
  }
  return (rises == kParts - 1) - (falls == kParts - 1);
}

class ByName {
 public:
  ByName(const Context& context, size_t gpu)
      : context_(context),
        device_(context.trace.devices[context.ranks.gpus[gpu].device]),
        window_(context.windows[gpu]),
        estimates_(context.trace, device_),
        durations_(context.work[gpu].kernels.size()),
        sums_(context.kernels.size()) {
    const Kernels& kernels = context.trace.kernels;
    for (const uint32_t k : context.work[gpu].kernels) ++sums_[kernels.name[k]].next;
    size_t first = 0;
    for (Sums& sums : sums_) {
      const size_t count = sums.next;
      sums.first = sums.next = first;
      first += count;
    }
    for (const uint32_t k : context.work[gpu].kernels) Add(k);
  }

  std::vector<KernelNameRow> Rows(int64_t rank, const KernelNameOrder& names) {
    std::vector<NameId> order;
    int64_t device_ns = 0, window_ns = 0;
    for (NameId name = 0; name < sums_.size(); ++name) {
      if (sums_[name].next == sums_[name].first) continue;
      order.push_back(name);
      device_ns += sums_[name].total_ns;
      window_ns += sums_[name].window_ns;
    }
    std::sort(order.begin(), order.end(), [&](NameId a, NameId b) {
      const int64_t ns_a = sums_[a].total_ns, ns_b = sums_[b].total_ns;
      return ns_a != ns_b ? ns_a > ns_b : names.place[a] < names.place[b];
    });
    std::vector<KernelNameRow> rows;
    rows.reserve(order.size());
    for (const NameId name : order) {
      KernelNameRow& row = rows.emplace_back(RowOf(name, sums_[name]));
      row.rank = rank;
      if (device_ns > 0) row.share = static_cast<double>(row.total_ns) / static_cast<double>(device_ns);
      if (window_ns > 0)
        row.window_share = static_cast<double>(row.window_ns) / static_cast<double>(window_ns);
    }
    return rows;
  }

 private:
  void Add(uint32_t k) {
    const Kernels& kernels = context_.trace.kernels;
    Sums& sums = sums_[kernels.name[k]];
    const int64_t duration = kernels.end[k] - kernels.start[k], grid = kernels.grid[k];
    const KernelEstimate estimate = estimates_.Of(k);
    const std::optional<BlockFit> fit = estimate.fit;
    const auto tail = fit ? TailNs(device_, grid, duration, fit->blocks) : std::nullopt;
    sums.tail_known &= tail.has_value();
    sums.tail_ns += tail.value_or(0);
    const bool is_first = sums.next == sums.first;
    sums.fit_known &= fit.has_value();
    sums.one_limit &= fit && (is_first || fit->limit == sums.fit.limit);
    if (fit && (is_first || fit->blocks < sums.fit.blocks)) sums.fit = *fit;
    sums.shape_known &= grid > 0;
    sums.grid_min = is_first ? grid : std::min(sums.grid_min, grid);
    sums.grid_max = is_first ? grid : std::max(sums.grid_max, grid);
    sums.grid += static_cast<double>(grid);
    sums.block += static_cast<double>(kernels.block[k]);
    sums.total_ns += duration;
    sums.registers = std::max<int64_t>(sums.registers, kernels.registers[k]);
    if (kernels.local_bytes.size() > 0) sums.local = std::max<int64_t>(sums.local, kernels.local_bytes[k]);
    if (kernels.start[k] >= window_.start && kernels.start[k] < window_.end) {
      ++sums.window_count;
      sums.window_ns += duration;
      if (const int64_t block = kernels.block[k]; block == 0 || grid <= kWarp / block) {
        ++sums.serial_count;
        sums.serial_ns += duration;
      }
    }
    if (estimate.blocks_per_sm) {
      sums.blocks_known = true;
      sums.blocks += *estimate.blocks_per_sm * static_cast<double>(duration);
    }
    if (estimate.occupancy) {
      sums.occupancy_known = true;
      sums.occupancy += *estimate.occupancy * static_cast<double>(duration);
    }
    sums.short_name = kernels.short_name[k];
    durations_[sums.next++] = duration;
  }

  KernelNameRow RowOf(NameId name, const Sums& sums) {
    const std::span<int64_t> durations(durations_.data() + sums.first, sums.next - sums.first);
    const auto count = static_cast<double>(durations.size());
    KernelNameRow row;
    row.device = device_.ordinal;
    row.kernel = context_.trace.names.View(name);
    row.short_name = context_.trace.names.View(sums.short_name);
    row.instances = static_cast<int64_t>(durations.size());
    row.total_ns = sums.total_ns;
    row.window_instances = sums.window_count;
    row.window_ns = sums.window_ns;
    row.avg_ns = static_cast<double>(row.total_ns) / count;
    row.min_ns = *std::min_element(durations.begin(), durations.end());
    row.max_ns = *std::max_element(durations.begin(), durations.end());
    row.stddev_ns = Deviation(durations, row.avg_ns);
    if (const std::optional<int> drift = Drift(durations)) {
      row.drifts = *drift != 0;
      row.shrinks = *drift < 0;
    }
    row.median_ns = Median(durations);
    if (sums.shape_known) {
      row.grid_avg = sums.grid / count;
      row.block_avg = sums.block / count;
      row.grid_min = sums.grid_min;
      row.grid_max = sums.grid_max;
      row.serial_instances = sums.serial_count;
      row.serial_ns = sums.serial_ns;
    }
    if (sums.tail_known) row.tail_ns = sums.tail_ns;
    if (sums.blocks_known && row.total_ns > 0)
      row.mean_blocks_per_sm = sums.blocks / static_cast<double>(row.total_ns);
    if (sums.occupancy_known && row.total_ns > 0)
      row.mean_occupancy = sums.occupancy / static_cast<double>(row.total_ns);
    if (sums.fit_known) row.fitting_blocks = sums.fit.blocks;
    if (sums.one_limit) row.occupancy_limit = OccupancyLimitName(sums.fit.limit);
    if (sums.registers > 0) row.registers = sums.registers;
    if (sums.local >= 0) row.local_bytes = sums.local;
    const KernelTraits& traits = context_.kernels[name];
    row.uses_tensor_cores = traits.tensor_core;
    row.eligible = traits.eligible;
    row.communication = traits.communication;
    row.kind = traits.kind;
    if (traits.precision != Precision::kUnknown) row.precision = PrecisionName(traits.precision);
    return row;
  }

  const Context& context_;
  const Device& device_;
  const Interval window_;
  KernelEstimates estimates_;
  std::vector<int64_t> durations_;  // by name
  std::vector<Sums> sums_;          // by name id
};

}  // namespace

const RelationOf<KernelNameRow>& KernelNameRelation() {
  static const auto relation =
      RelationOf<KernelNameRow>("kernel_name", "Kernels by name, over the whole profile.")
          .Key("rank", &KernelNameRow::rank, kRankNumber, "Rank.")
          .Key("device", &KernelNameRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("kernel", &KernelNameRow::kernel, Unit::kText, "Demangled name.")
          .Column("short_name", &KernelNameRow::short_name, Unit::kText, "Name without template arguments.")
          .Column("instances", &KernelNameRow::instances, Unit::kCount, "Executions.")
          .Column("total_ns", &KernelNameRow::total_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("avg_ns", &KernelNameRow::avg_ns, Unit::kNanoseconds, "Mean duration.")
          .Column("median_ns", &KernelNameRow::median_ns, Unit::kNanoseconds, "Median duration.")
          .Column("min_ns", &KernelNameRow::min_ns, Unit::kNanoseconds, "Shortest.")
          .Column("max_ns", &KernelNameRow::max_ns, Unit::kNanoseconds, "Longest.")
          .Column("stddev_ns", &KernelNameRow::stddev_ns, Unit::kNanoseconds,
                  "Sample standard deviation; unknown for one execution.")
          .Column("drifts", &KernelNameRow::drifts, Unit::kNone,
                  "1 where executions become longer, or shorter, all the way from first to last, as where a "
                  "problem grows or shrinks: by the means of eight equal parts of them. Unknown for few.")
          .Column("shrinks", &KernelNameRow::shrinks, Unit::kNone, "1 where they become shorter so.")
          .Column("share", &KernelNameRow::share, Unit::kRatio, "Share of the device's summed kernel time.")
          .Column("grid_avg", &KernelNameRow::grid_avg, Unit::kCount,
                  "Mean number of thread blocks; unknown where the profile lacks it for some execution.")
          .Column("grid_min", &KernelNameRow::grid_min, Unit::kCount, "Least.")
          .Column("grid_max", &KernelNameRow::grid_max, Unit::kCount, "Most.")
          .Column("block_avg", &KernelNameRow::block_avg, Unit::kCount, "Mean threads per block.")
          .Column("uses_tensor_cores", &KernelNameRow::uses_tensor_cores, Unit::kNone,
                  "1 or 0; unknown where the name does not show it.")
          .Column("eligible", &KernelNameRow::eligible, Unit::kNone,
                  "1 for matrix products, convolutions and attention.")
          .Column("precision", &KernelNameRow::precision, Unit::kText, "Precision, where the name shows it.")
          .Column("kind", &KernelNameRow::kind, Unit::kText,
                  "communication, attention, layout, convolution, matrix, optimizer, softmax, normalization, "
                  "embedding, sort, reduction, element-wise or other, by name.")
          .Column("tail_ns", &KernelNameRow::tail_ns, Unit::kNanoseconds,
                  "Time lost to last waves of blocks that do not fill the GPU, if blocks take equally long; "
                  "unknown where the GPU's limits are.")
          .Column("communication", &KernelNameRow::communication, Unit::kNone,
                  "1 for collectives (NCCL and the like).")
          .Column("mean_blocks_per_sm", &KernelNameRow::mean_blocks_per_sm, Unit::kCount,
                  "Thread blocks by multiprocessors of the GPU, weighted by duration.")
          .Column("mean_occupancy", &KernelNameRow::mean_occupancy, Unit::kRatio,
                  "Estimated achieved occupancy, weighted by duration: share of a multiprocessor's threads "
                  "that the blocks it gets at once keep busy.")
          .Column("fitting_blocks", &KernelNameRow::fitting_blocks, Unit::kCount,
                  "Fewest blocks of an execution that fit on a multiprocessor at once, by their threads, "
                  "registers and shared memory; unknown where the GPU's limits are.")
          .Column("occupancy_limit", &KernelNameRow::occupancy_limit, Unit::kText,
                  "Why no more fit: registers, shared memory, or block size (it holds no more threads or "
                  "blocks); unknown where executions differ in it, or the GPU's limits are.")
          .Column("registers", &KernelNameRow::registers, Unit::kCount,
                  "Most registers of a thread; unknown where they are not recorded.")
          .Column("local_bytes", &KernelNameRow::local_bytes, Unit::kBytes,
                  "Most local memory of a thread (scratch on AMD): what does not fit into registers, or is "
                  "indexed at "
                  "run time; unknown where it is not recorded.")
          .Column("window_instances", &KernelNameRow::window_instances, Unit::kCount,
                  "Of the executions those that start in the analysed window.")
          .Column("window_ns", &KernelNameRow::window_ns, Unit::kNanoseconds, "Sum of their durations.")
          .Column("window_share", &KernelNameRow::window_share, Unit::kRatio,
                  "Share of the device's summed kernel time in the window.")
          .Column("serial_instances", &KernelNameRow::serial_instances, Unit::kCount,
                  "Of the executions in the window those of no more threads in all than a warp has (32); "
                  "unknown where grids are.")
          .Column("serial_ns", &KernelNameRow::serial_ns, Unit::kNanoseconds, "Sum of their durations.");
  return relation;
}

Table ComputeKernelNames(const Context& context, const KernelNameOrder& names) {
  Table table(KernelNameRelation().schema());
  RelationOf<KernelNameRow>::Appender appender(KernelNameRelation(), table);
  std::vector<std::vector<KernelNameRow>> by_gpu(ThreadCount());
  for (size_t first = 0; first < context.work.size(); first += by_gpu.size()) {
    const size_t count = std::min(by_gpu.size(), context.work.size() - first);
    ParallelFor(count, [&](size_t i) {
      const size_t gpu = first + i;
      by_gpu[i] = ByName(context, gpu).Rows(context.ranks.gpus[gpu].rank, names);
    });
    for (size_t i = 0; i < count; ++i) appender.Append(std::exchange(by_gpu[i], {}));
  }
  return table;
}

const Family& KernelNameFamily() {
  static const Family family = FamilyOf(KernelNameRelation(), ComputeKernelNames).Detail();
  return family;
}

}  // namespace dladvisor
