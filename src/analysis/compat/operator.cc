// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "src/analysis/compat/profiled_work.h"
#include "src/analysis/context/occupancy.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

RelationOf<OperatorRow> Declare(const char* name, const char* doc) {
  return RelationOf<OperatorRow>(name, doc)
      .Key("rank", &OperatorRow::rank, kRankNumber, "Rank.")
      .Key("name", &OperatorRow::name, Unit::kText, "Operator, e.g. aten::linear.");
}

RelationOf<OperatorRow> AddColumns(RelationOf<OperatorRow> relation) {
  return relation.Column("calls", &OperatorRow::calls, Unit::kCount, "Calls.")
      .Column("device_self_ns", &OperatorRow::device_self_ns, Unit::kNanoseconds,
              "Sum of durations of the GPU work that it launched itself.")
      .Column("device_total_ns", &OperatorRow::device_total_ns, Unit::kNanoseconds,
              "The same with operators that it called.")
      .Column("host_self_ns", &OperatorRow::host_self_ns, Unit::kNanoseconds,
              "Time on the host without operators that it called and its CUDA calls.")
      .Column("host_total_ns", &OperatorRow::host_total_ns, Unit::kNanoseconds, "Time on the host.")
      .Column("tensor_core_eligible", &OperatorRow::tensor_core_eligible, Unit::kNone,
              "1 where it or an operator that it called is matrix work.")
      .Column("tensor_core_self_share", &OperatorRow::tensor_core_self_share, Unit::kRatio,
              "Share of device_self_ns in kernels known to use tensor cores; unknown without any.")
      .Column("tensor_core_total_share", &OperatorRow::tensor_core_total_share, Unit::kRatio,
              "The same of device_total_ns.");
}

}  // namespace

const RelationOf<OperatorRow>& OperatorRelation() {
  static const auto relation =
      AddColumns(Declare("operator", "Operators of the framework by name, over the whole profile."));
  return relation;
}

const RelationOf<OperatorRow>& OperatorInputRelation() {
  static const auto relation = AddColumns(
      Declare("operator_input", "Operators by name and shapes of their arguments, over the whole profile.")
          .Key("input_shapes", &OperatorRow::input_shapes, Unit::kText,
               "Shapes in JSON, one per argument; [] where they were not recorded."));
  return relation;
}

const RelationOf<OperatorKernelRow>& OperatorKernelRelation() {
  using Row = OperatorKernelRow;
  static const auto relation =
      RelationOf<Row>("operator_kernel",
                      "Kernels by name, launching operator and launch shape, over the whole profile.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("device", &Row::device, Unit::kNone, "CUDA device ordinal.")
          .Key("kernel", &Row::kernel, Unit::kText, "Demangled name.")
          .Key("operator", &Row::operator_name, Unit::kText, "Operator that launched it, N/A for none.")
          .Key("grid", &Row::grid, Unit::kText, "Blocks in x, y, z; empty where not recorded.")
          .Key("block", &Row::block, Unit::kText, "Threads of a block in x, y, z; empty as above.")
          .Key("registers", &Row::registers, Unit::kCount, "Registers per thread, 0 where not recorded.")
          .Key("shared_bytes", &Row::shared_bytes, Unit::kBytes, "Shared memory per block.")
          .Column("calls", &Row::calls, Unit::kCount, "Executions.")
          .Column("total_ns", &Row::total_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("min_ns", &Row::min_ns, Unit::kNanoseconds, "Shortest.")
          .Column("max_ns", &Row::max_ns, Unit::kNanoseconds, "Longest.")
          .Column("mean_blocks_per_sm", &Row::mean_blocks_per_sm, Unit::kCount,
                  "Blocks by multiprocessors of the GPU, weighted by duration.")
          .Column("mean_occupancy", &Row::mean_occupancy, Unit::kRatio,
                  "Estimated achieved occupancy, weighted by duration.")
          .Column("uses_tensor_cores", &Row::uses_tensor_cores, Unit::kNone,
                  "1 or 0; unknown where the name does not show it.")
          .Column("tensor_core_eligible", &Row::tensor_core_eligible, Unit::kNone,
                  "1 where the operator is eligible for tensor cores.");
  return relation;
}

namespace {

struct Sums {
  OperatorRow row;
  Ns tensor_core_self = 0, tensor_core_total = 0;

  void Add(const OperatorCall& call) {
    ++row.calls;
    row.host_total_ns += call.host_total;
    row.host_self_ns += call.host_self;
    row.device_total_ns += call.device_total;
    row.device_self_ns += call.device_self;
    row.tensor_core_eligible |= call.eligible;
    tensor_core_self += call.tensor_core_self;
    tensor_core_total += call.tensor_core_total;
  }
};

NameId ShapesOf(const Trace& trace, uint32_t range) {
  if (trace.ranges.arguments.size() == 0) return kNoName;
  return trace.operator_arguments[static_cast<size_t>(trace.ranges.arguments[range])].shapes;
}

// JSON as json.dumps of Python writes it: a space after each comma and no other, which importers leave as it
// is in the file.
std::string Compact(std::string_view json) {
  std::string text;
  for (const char c : json) {
    if (static_cast<unsigned char>(c) <= ' ') continue;
    text += c;
    if (c == ',') text += ' ';
  }
  return text;
}

// Texts of the shapes of calls, each once.
class ShapeTexts {
 public:
  explicit ShapeTexts(const Trace& trace) : trace_(trace) {}

  uint32_t IndexOf(uint32_t range) {
    const auto [known, is_new] = of_name_.try_emplace(ShapesOf(trace_, range));
    if (is_new) known->second = Index(Compact(trace_.names.View(known->first)));
    return known->second;
  }
  const std::string& operator[](size_t index) const { return texts_[index]; }

 private:
  uint32_t Index(std::string text) {
    const auto [known, is_new] = index_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(std::move(text));
    return known->second;
  }

  const Trace& trace_;
  std::vector<std::string> texts_ = {"[]"};
  std::unordered_map<std::string, uint32_t> index_ = {{"[]", 0}};
  std::unordered_map<NameId, uint32_t> of_name_ = {{kNoName, 0}};
};

// Hash of numbers that together are a key.
template <size_t kNumbers>
struct HashOfNumbers {
  size_t operator()(const std::array<int64_t, kNumbers>& key) const {
    uint64_t hash = 0;
    for (const int64_t number : key) {
      hash = (hash ^ static_cast<uint64_t>(number)) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 32;
    }
    return hash;
  }
};
template <size_t kNumbers, class Value>
using ByNumbers = std::unordered_map<std::array<int64_t, kNumbers>, Value, HashOfNumbers<kNumbers>>;

// By rank, name and, where asked for, shapes.
std::vector<OperatorRow> Aggregate(const Trace& trace, const OperatorTree& tree, bool by_shapes) {
  ByNumbers<3, Sums> sums;
  ShapeTexts texts(trace);
  for (const OperatorCall& call : tree.calls)
    if (call.is_operator)
      sums[{call.rank, tree.name[trace.ranges.name[call.range]], by_shapes ? texts.IndexOf(call.range) : 0}]
          .Add(call);
  std::vector<OperatorRow> rows;
  rows.reserve(sums.size());
  for (auto& [key, sum] : sums) {
    const auto& [rank, name, shapes] = key;
    sum.row.rank = rank;
    sum.row.name = tree.names[static_cast<size_t>(name) - 1];
    sum.row.input_shapes = texts[static_cast<size_t>(shapes)];
    sum.row.tensor_core_self_share = Share(sum.tensor_core_self, sum.row.device_self_ns);
    sum.row.tensor_core_total_share = Share(sum.tensor_core_total, sum.row.device_total_ns);
    rows.push_back(std::move(sum.row));
  }
  std::sort(rows.begin(), rows.end(), [](const OperatorRow& a, const OperatorRow& b) {
    return std::tuple(a.rank, -a.device_self_ns, -a.host_self_ns, std::string_view(a.name),
                      std::string_view(a.input_shapes)) <
           std::tuple(b.rank, -b.device_self_ns, -b.host_self_ns, std::string_view(b.name),
                      std::string_view(b.input_shapes));
  });
  return rows;
}

std::string Dimensions(const std::array<int64_t, 3>& d) {
  return fmt::format("[{}, {}, {}]", d[0], d[1], d[2]);
}

struct KernelSums {
  OperatorKernelRow row;
  std::optional<double> blocks_per_sm, occupancy;  // weighted by duration
};

void AddKernels(const Context& context, const OperatorTree& tree, size_t gpu,
                std::vector<OperatorKernelRow>& rows) {
  const Trace& trace = context.trace;
  const Kernels& kernels = trace.kernels;
  // Name of the kernel, 1 + index of the operator's name, shape, registers, shared memory.
  ByNumbers<5, KernelSums> sums;
  KernelEstimates estimates(trace, trace.devices[context.ranks.gpus[gpu].device]);
  for (const uint32_t k : context.work[gpu].kernels) {
    const uint32_t launch = context.launches.kernel[k];
    const uint32_t call = launch == kNoIndex ? kNoIndex : tree.api_call[launch];
    const uint32_t name = call == kNoIndex ? 0 : tree.name[trace.ranges.name[tree.calls[call].range]];
    KernelSums& sum = sums[{kernels.name[k], name, kernels.shape.size() == 0 ? -1 : kernels.shape[k],
                            kernels.registers[k], kernels.shared_bytes[k]}];
    OperatorKernelRow& row = sum.row;
    const Ns duration = kernels.end[k] - kernels.start[k];
    row.min_ns = row.calls == 0 ? duration : std::min(row.min_ns, duration);
    row.max_ns = std::max(row.max_ns, duration);
    ++row.calls;
    row.total_ns += duration;
    if (call != kNoIndex) row.tensor_core_eligible |= tree.calls[call].eligible;
    const auto add = [&](std::optional<double> value, std::optional<double>& weighted) {
      if (value) weighted = weighted.value_or(0) + *value * static_cast<double>(duration);
    };
    const KernelEstimate estimate = estimates.Of(k);
    add(estimate.blocks_per_sm, sum.blocks_per_sm);
    add(estimate.occupancy, sum.occupancy);
  }
  std::vector<decltype(sums)::value_type*> sorted;
  sorted.reserve(sums.size());
  for (auto& entry : sums) sorted.push_back(&entry);
  std::ranges::sort(sorted, [&](const auto* a, const auto* b) {
    if (a->second.row.total_ns != b->second.row.total_ns)
      return a->second.row.total_ns > b->second.row.total_ns;
    if (a->first[0] == b->first[0]) return a->first < b->first;
    return trace.names.View(static_cast<NameId>(a->first[0])) <
           trace.names.View(static_cast<NameId>(b->first[0]));
  });
  for (auto* entry : sorted) {
    const auto& [kernel, name, shape, registers, shared] = entry->first;
    auto& [row, blocks_per_sm, occupancy] = entry->second;
    row.rank = context.ranks.gpus[gpu].rank;
    row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
    row.operator_name = name == 0 ? "N/A" : tree.names[static_cast<size_t>(name) - 1];
    row.kernel = trace.names.View(static_cast<NameId>(kernel));
    const bool has_shape = shape >= 0 && kernels.shapes[static_cast<size_t>(shape)].grid[0] > 0;
    if (has_shape) row.grid = Dimensions(kernels.shapes[static_cast<size_t>(shape)].grid);
    if (has_shape) row.block = Dimensions(kernels.shapes[static_cast<size_t>(shape)].block);
    row.registers = registers;
    row.shared_bytes = shared;
    const auto total = static_cast<double>(row.total_ns);
    if (blocks_per_sm && row.total_ns > 0) row.mean_blocks_per_sm = *blocks_per_sm / total;
    if (occupancy && row.total_ns > 0) row.mean_occupancy = *occupancy / total;
    row.uses_tensor_cores = context.kernels[static_cast<size_t>(kernel)].tensor_core;
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<OperatorRow> ComputeOperators(const Context& context, const OperatorTree& tree) {
  return Aggregate(context.trace, tree, /*by_shapes=*/false);
}

std::vector<OperatorRow> ComputeOperatorInputs(const Context& context, const OperatorTree& tree) {
  return Aggregate(context.trace, tree, /*by_shapes=*/true);
}

std::vector<OperatorKernelRow> ComputeOperatorKernels(const Context& context, const OperatorTree& tree) {
  std::vector<OperatorKernelRow> rows;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) AddKernels(context, tree, gpu, rows);
  return rows;
}

const Family& OperatorFamily() {
  static const Family family = FamilyOf(OperatorRelation(), ComputeOperators).OnDemand();
  return family;
}

const Family& OperatorInputFamily() {
  static const Family family = FamilyOf(OperatorInputRelation(), ComputeOperatorInputs).OnDemand();
  return family;
}

const Family& OperatorKernelFamily() {
  static const Family family = FamilyOf(OperatorKernelRelation(), ComputeOperatorKernels).OnDemand();
  return family;
}

}  // namespace dladvisor
