#include "src/analysis/kernel_name.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/analysis/kernel_kind.h"
#include "src/analysis/occupancy.h"
#include "src/analysis/tensor_core.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

double Median(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return static_cast<double>(*middle);
  return (static_cast<double>(*middle) + static_cast<double>(*std::max_element(values.begin(), middle))) / 2;
}

// Sample standard deviation, in two passes so that nanoseconds do not cancel.
std::optional<double> Deviation(const std::vector<int64_t>& values, double mean) {
  if (values.size() < 2) return std::nullopt;
  double squares = 0;
  for (const int64_t v : values) squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Kernels of one GPU, grouped by name; of one name in order of start.
std::vector<uint32_t> GroupByName(const Trace& trace, const std::vector<uint32_t>& kernels) {
  std::vector<uint32_t> next(trace.names.size() + 1, 0);  // where the next kernel of a name goes
  for (const uint32_t k : kernels) ++next[trace.kernels.name[k] + 1];
  for (size_t name = 1; name < next.size(); ++name) next[name] += next[name - 1];
  std::vector<uint32_t> grouped(kernels.size());
  for (const uint32_t k : kernels) grouped[next[trace.kernels.name[k]]++] = k;
  return grouped;
}

std::vector<KernelNameRow> RowsOf(const Context& context, size_t gpu) {
  const Trace& trace = context.trace;
  const Kernels& kernels = trace.kernels;
  const std::vector<uint32_t> order = GroupByName(trace, context.work[gpu].kernels);
  std::vector<KernelNameRow> rows;
  std::vector<int64_t> durations;
  const Device& device = trace.devices[context.ranks.gpus[gpu].device];
  int64_t device_ns = 0;
  for (size_t i = 0; i < order.size();) {
    KernelNameRow row;
    const NameId name = kernels.name[order[i]];
    durations.clear();
    int64_t tail_ns = 0;
    bool tail_known = true, blocks_known = false;
    std::optional<int64_t> blocks;  // of a launch that needs blocks_of: most kernels of a name need the same
    std::array<int64_t, 3> blocks_of{};
    for (; i < order.size() && kernels.name[order[i]] == name; ++i) {
      const uint32_t kernel = order[i];
      durations.push_back(kernels.end[kernel] - kernels.start[kernel]);
      row.total_ns += durations.back();
      row.grid_avg += static_cast<double>(kernels.grid[kernel]);
      row.grid_min =
          durations.size() == 1 ? kernels.grid[kernel] : std::min(row.grid_min, kernels.grid[kernel]);
      row.grid_max = std::max(row.grid_max, kernels.grid[kernel]);
      row.block_avg += static_cast<double>(kernels.block[kernel]);
      const std::array<int64_t, 3> needs = {kernels.block[kernel], kernels.registers[kernel],
                                            kernels.shared_bytes[kernel]};
      if (!blocks_known || needs != blocks_of) {
        blocks = BlocksPerSm(device, needs[0], needs[1], needs[2]);
        blocks_of = needs;
        blocks_known = true;
      }
      const auto tail =
          blocks ? TailNs(device, kernels.grid[kernel], durations.back(), *blocks) : std::nullopt;
      tail_known &= tail.has_value();
      tail_ns += tail.value_or(0);
    }
    if (tail_known) row.tail_ns = tail_ns;
    const auto count = static_cast<double>(durations.size());
    row.short_name = trace.names.View(kernels.short_name[order[i - 1]]);
    row.rank = context.ranks.gpus[gpu].rank;
    row.device = device.ordinal;
    row.kernel = trace.names.View(name);
    row.instances = static_cast<int64_t>(durations.size());
    row.avg_ns = static_cast<double>(row.total_ns) / count;
    row.min_ns = *std::min_element(durations.begin(), durations.end());
    row.max_ns = *std::max_element(durations.begin(), durations.end());
    row.stddev_ns = Deviation(durations, row.avg_ns);
    row.median_ns = Median(durations);
    row.grid_avg /= count;
    row.block_avg /= count;
    const KernelTraits& traits = context.kernels[name];
    row.uses_tensor_cores = traits.tensor_core;
    row.eligible = traits.eligible;
    row.communication = traits.communication;
    row.kind = KernelKind(trace.names.View(name), traits);
    if (traits.precision != Precision::kUnknown) row.precision = std::string(PrecisionName(traits.precision));
    device_ns += row.total_ns;
    rows.push_back(std::move(row));
  }
  for (KernelNameRow& row : rows)
    if (device_ns > 0) row.share = static_cast<double>(row.total_ns) / static_cast<double>(device_ns);
  std::sort(rows.begin(), rows.end(), [](const KernelNameRow& a, const KernelNameRow& b) {
    return std::tuple(-a.total_ns, std::string_view(a.kernel)) <
           std::tuple(-b.total_ns, std::string_view(b.kernel));
  });
  return rows;
}

}  // namespace

const RelationOf<KernelNameRow>& KernelNameRelation() {
  static const auto relation =
      RelationOf<KernelNameRow>("kernel_name", "Kernels by name, over the whole profile.")
          .Key("rank", &KernelNameRow::rank, Unit::kNone, "Rank.")
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
          .Column("share", &KernelNameRow::share, Unit::kRatio, "Share of the device's summed kernel time.")
          .Column("grid_avg", &KernelNameRow::grid_avg, Unit::kCount, "Mean number of thread blocks.")
          .Column("grid_min", &KernelNameRow::grid_min, Unit::kCount, "Least.")
          .Column("grid_max", &KernelNameRow::grid_max, Unit::kCount, "Most.")
          .Column("block_avg", &KernelNameRow::block_avg, Unit::kCount, "Mean threads per block.")
          .Column("uses_tensor_cores", &KernelNameRow::uses_tensor_cores, Unit::kNone,
                  "1 or 0; unknown where the name does not tell.")
          .Column("eligible", &KernelNameRow::eligible, Unit::kNone,
                  "1 for matrix products, convolutions and attention.")
          .Column("precision", &KernelNameRow::precision, Unit::kText, "Precision, where the name tells.")
          .Column("kind", &KernelNameRow::kind, Unit::kText,
                  "communication, attention, layout, convolution, matrix, optimizer, softmax, normalization, "
                  "embedding, sort, reduction, element-wise or other, by name.")
          .Column("tail_ns", &KernelNameRow::tail_ns, Unit::kNanoseconds,
                  "Time lost to last waves of blocks that do not fill the GPU, if blocks take equally long; "
                  "unknown where the GPU's limits are.")
          .Column("communication", &KernelNameRow::communication, Unit::kNone,
                  "1 for collectives (NCCL and the like).");
  return relation;
}

std::vector<KernelNameRow> ComputeKernelNames(const Context& context) {
  std::vector<std::vector<KernelNameRow>> by_gpu(context.work.size());
  ParallelFor(by_gpu.size(), [&](size_t gpu) { by_gpu[gpu] = RowsOf(context, gpu); });
  std::vector<KernelNameRow> rows;
  for (std::vector<KernelNameRow>& of_gpu : by_gpu)
    rows.insert(rows.end(), std::make_move_iterator(of_gpu.begin()), std::make_move_iterator(of_gpu.end()));
  return rows;
}

}  // namespace dladvisor
