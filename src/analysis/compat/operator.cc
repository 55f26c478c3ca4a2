// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
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

// By rank, name and, where asked for, shapes.
std::vector<OperatorRow> Aggregate(const Trace& trace, const OperatorTree& tree, bool by_shapes) {
  std::map<std::tuple<int64_t, uint32_t, uint32_t>, Sums> sums;
  std::vector<std::string> texts = {"[]"};
  std::map<std::string, uint32_t> index = {{"[]", 0}};
  std::map<NameId, uint32_t> shapes_of = {{kNoName, 0}};  // name -> index into texts
  const auto shapes = [&](uint32_t range) {
    const auto [known, is_new] = shapes_of.try_emplace(ShapesOf(trace, range));
    if (is_new) {
      std::string text = Compact(trace.names.View(known->first));
      const auto [entry, is_new_text] = index.try_emplace(text, static_cast<uint32_t>(texts.size()));
      if (is_new_text) texts.push_back(std::move(text));
      known->second = entry->second;
    }
    return known->second;
  };
  for (const OperatorCall& call : tree.calls)
    if (call.is_operator)
      sums[{call.rank, tree.name[trace.ranges.name[call.range]], by_shapes ? shapes(call.range) : 0}].Add(
          call);
  std::vector<OperatorRow> rows;
  for (auto& [key, sum] : sums) {
    const auto& [rank, name, shape] = key;
    sum.row.rank = rank;
    sum.row.name = tree.names[name - 1];
    sum.row.input_shapes = texts[shape];
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

std::vector<OperatorKernelRow> KernelsOf(const Context& context, const OperatorTree& tree, size_t gpu) {
  const Trace& trace = context.trace;
  const Kernels& kernels = trace.kernels;
  // Name of the kernel, 1 + index of the operator's name, shape, registers, shared memory.
  using Key = std::tuple<NameId, uint32_t, int64_t, int64_t, int64_t>;
  std::map<Key, std::pair<OperatorKernelRow, std::array<std::optional<double>, 2>>> sums;
  KernelEstimates estimates(trace, trace.devices[context.ranks.gpus[gpu].device]);
  for (const uint32_t k : context.work[gpu].kernels) {
    const uint32_t launch = context.launches.kernel[k];
    const uint32_t call = launch == kNoIndex ? kNoIndex : tree.api_call[launch];
    const uint32_t name = call == kNoIndex ? 0 : tree.name[trace.ranges.name[tree.calls[call].range]];
    auto& [row, weighted] = sums[{kernels.name[k], name, kernels.shape.size() == 0 ? -1 : kernels.shape[k],
                                  kernels.registers[k], kernels.shared_bytes[k]}];
    const Ns duration = kernels.end[k] - kernels.start[k];
    row.min_ns = row.calls == 0 ? duration : std::min(row.min_ns, duration);
    row.max_ns = std::max(row.max_ns, duration);
    ++row.calls;
    row.total_ns += duration;
    if (call != kNoIndex) row.tensor_core_eligible |= tree.calls[call].eligible;
    const auto add = [&](std::optional<double> value, std::optional<double>& sum) {
      if (value) sum = sum.value_or(0) + *value * static_cast<double>(duration);
    };
    add(estimates.BlocksPerSm(k), weighted[0]);
    add(estimates.Occupancy(k), weighted[1]);
  }
  std::vector<OperatorKernelRow> rows;
  for (auto& [key, sum] : sums) {
    const auto& [kernel, name, shape, registers, shared] = key;
    auto& [row, weighted] = sum;
    row.rank = context.ranks.gpus[gpu].rank;
    row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
    row.operator_name = name == 0 ? "N/A" : tree.names[name - 1];
    row.kernel = trace.names.View(kernel);
    const bool has_shape = shape >= 0 && kernels.shapes[static_cast<size_t>(shape)].grid[0] > 0;
    if (has_shape) row.grid = Dimensions(kernels.shapes[static_cast<size_t>(shape)].grid);
    if (has_shape) row.block = Dimensions(kernels.shapes[static_cast<size_t>(shape)].block);
    row.registers = registers;
    row.shared_bytes = shared;
    const auto total = static_cast<double>(row.total_ns);
    if (weighted[0] && row.total_ns > 0) row.mean_blocks_per_sm = *weighted[0] / total;
    if (weighted[1] && row.total_ns > 0) row.mean_occupancy = *weighted[1] / total;
    row.uses_tensor_cores = context.kernels[kernel].tensor_core;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const OperatorKernelRow& a, const OperatorKernelRow& b) {
    return std::tuple(-a.total_ns, std::string_view(a.kernel)) <
           std::tuple(-b.total_ns, std::string_view(b.kernel));
  });
  return rows;
}

}  // namespace

OperatorFamilies ComputeOperators(const Context& context, const OperatorTree& tree) {
  OperatorFamilies families;
  families.by_name = Aggregate(context.trace, tree, false);
  families.by_input = Aggregate(context.trace, tree, true);
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    const std::vector<OperatorKernelRow> rows = KernelsOf(context, tree, gpu);
    families.kernels.insert(families.kernels.end(), rows.begin(), rows.end());
  }
  return families;
}

const Family& OperatorFamily() {
  static const Family family = FamilyOf(OperatorRelation(), &OperatorFamilies::by_name).OnDemand();
  return family;
}

const Family& OperatorInputFamily() {
  static const Family family = FamilyOf(OperatorInputRelation(), &OperatorFamilies::by_input).OnDemand();
  return family;
}

const Family& OperatorKernelFamily() {
  static const Family family = FamilyOf(OperatorKernelRelation(), &OperatorFamilies::kernels).OnDemand();
  return family;
}

}  // namespace dladvisor
