// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/op.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "src/analysis/context/op_path.h"
#include "src/analysis/context/operator_tree.h"
#include "src/analysis/context/tensor_core.h"
#include "src/analysis/family/family.h"
#include "src/analysis/work/arguments.h"
#include "src/analysis/work/element_type.h"
#include "src/hardware/precision.h"

namespace dladvisor {
namespace {

// Adds facts of a kernel to what is known of a group of kernels: one yes makes it yes, an unknown keeps it
// open.
struct Verdict {
  bool yes = false, unknown = false;
  void Add(std::optional<bool> fact) {
    yes |= fact == true;
    unknown |= !fact;
  }
  std::optional<bool> Get() const {
    return yes ? std::optional(true) : unknown ? std::nullopt : std::optional(false);
  }
};

struct OpTotals {
  int64_t rank = 0;
  PathId path = kNoPath;
  NameId lone_kernel = kNoName;  // where no range encloses it
  int64_t calls = 0, cpu_ns = 0, gpu_ns = 0, copy_ns = 0, set_ns = 0, busy_ns = 0, kernels = 0,
          tensor_core_ns = 0, inherited = 0, min_cpu_ns = 0, max_cpu_ns = 0, api_ns = 0;
  Ns api_until = std::numeric_limits<Ns>::min();
  bool owns_work = false, eligible_kernel = false, half = false;
  Verdict tensor_core;
  std::array<int64_t, kPrecisions> precision_ns{};
  std::vector<int64_t> gpu_ns_on, tensor_core_ns_on, tensor_core_unknown_ns_on;  // by gpu
  uint32_t first_range = kNoIndex;
  bool called_in_window = false;
};

class OpTable {
 public:
  explicit OpTable(const Context& context) : context_(context), trace_(context.trace) {
    for (const auto& gpu : context.ranks.gpus) windows_.emplace(gpu.rank, context.HostWindowOf(gpu.rank));
    for (uint32_t i = 0; i < trace_.ranges.size() && !has_operators_; ++i) has_operators_ = IsOperator(i);
  }

  OpFamilies Build() {
    AddRanges();
    AddCalls();
    for (size_t gpu = 0; gpu < context_.work.size(); ++gpu) AddGpu(gpu);
    return Finish();
  }

 private:
  bool IsOperator(uint32_t range) const {
    return trace_.names.View(trace_.ranges.domain[range]) == kOperatorDomain;
  }

  // What torch.compile makes of a program's operators: a range, below which its own kernels are launched, or
  // a CUDA graph of all of them.
  bool IsCompiledGraph(uint32_t range) const {
    return trace_.names.View(trace_.ranges.name[range]).starts_with("## Call CompiledFxGraph ");
  }

  bool InWindow(int64_t rank, Ns time) const {
    const auto window = windows_.find(rank);
    return window != windows_.end() && time >= window->second.start && time < window->second.end;
  }

  OpTotals& At(int64_t rank, PathId path, NameId lone_kernel = kNoName) {
    std::vector<uint32_t>& of_rank = path == kNoPath ? lone_[rank] : paths_[rank];
    const size_t key = path == kNoPath ? lone_kernel : path;
    if (of_rank.size() <= key)
      of_rank.resize(path == kNoPath ? trace_.names.size() : context_.paths->size(), kNoIndex);
    const bool is_new = of_rank[key] == kNoIndex;
    if (is_new) of_rank[key] = static_cast<uint32_t>(totals_.size());
    if (is_new) {
      OpTotals& op = totals_.emplace_back();
      op.rank = rank;
      op.path = path;
      op.lone_kernel = lone_kernel;
      op.gpu_ns_on.assign(context_.work.size(), 0);
      op.tensor_core_ns_on.assign(context_.work.size(), 0);
      op.tensor_core_unknown_ns_on.assign(context_.work.size(), 0);
    }
    return totals_[of_rank[key]];
  }

  void AddRanges() {
    const Ranges& ranges = trace_.ranges;
    for (uint32_t i = 0; i < ranges.size(); ++i) {
      if (ranges.kind[i] != RangeKind::kPushPop || !context_.paths->IsCall(i)) continue;
      const int64_t rank = context_.RankOfThread(ranges.thread[i]);
      if (rank < 0 || !InWindow(rank, ranges.start[i])) continue;
      OpTotals& op = At(rank, context_.paths->Of(i));
      op.called_in_window = true;
      AddRange(op, i);
    }
  }

  void AddRange(OpTotals& op, uint32_t i) {
    const Ns duration = trace_.ranges.end[i] - trace_.ranges.start[i];
    op.min_cpu_ns = op.calls == 0 ? duration : std::min(op.min_cpu_ns, duration);
    op.max_cpu_ns = std::max(op.max_cpu_ns, duration);
    if (op.calls++ == 0) op.first_range = i;
    op.cpu_ns += duration;
  }

  // Where the host is a step ahead, all calls of an op may lie before the window in which its work runs.
  void AddEarlyRange(OpTotals& op, uint32_t range) {
    if (op.called_in_window || op.path == kNoPath) return;
    for (; range != kNoIndex && context_.paths->Of(range) == op.path;
         range = context_.attribution.range_parent[range])
      if (context_.paths->IsCall(range)) {
        if (is_early_.empty()) is_early_.resize(trace_.ranges.size(), false);
        if (!is_early_[range]) AddRange(op, range);
        is_early_[range] = true;
        return;
      }
  }

  void AddCalls() {
    const ApiCalls& calls = trace_.api_calls;
    for (uint32_t i = 0; i < calls.size(); ++i) {
      const PathId path = context_.paths->Of(context_.attribution.api_range[i]);
      const int64_t rank = path == kNoPath ? -1 : context_.RankOfThread(calls.thread[i]);
      if (rank < 0 || !InWindow(rank, calls.start[i])) continue;
      OpTotals& op = At(rank, path);
      op.owns_work = true;
      // A runtime call may enclose a driver call.
      op.api_ns += std::max<Ns>(0, calls.end[i] - std::max(calls.start[i], op.api_until));
      op.api_until = std::max(op.api_until, calls.end[i]);
    }
  }

  // Kernels, copies and sets of a GPU in order of start, so that an op's busy time is a running union.
  void AddGpu(size_t gpu) {
    const GpuWork& work = context_.work[gpu];
    busy_until_.assign(totals_.size(), std::numeric_limits<Ns>::min());
    const auto next_start = [](const GpuOperations& table, const std::vector<uint32_t>& list, size_t at) {
      return at < list.size() ? table.start[list[at]] : std::numeric_limits<Ns>::max();
    };
    for (size_t kernel = 0, copy = 0, set = 0;;) {
      const Ns kernel_start = next_start(trace_.kernels, work.kernels, kernel),
               copy_start = next_start(trace_.copies, work.copies, copy),
               set_start = next_start(trace_.sets, work.sets, set);
      const Ns first = std::min({kernel_start, copy_start, set_start});
      if (first >= context_.windows[gpu].end) break;
      if (kernel_start == first)
        AddKernel(gpu, work.kernels[kernel++]);
      else if (copy_start == first)
        AddCopy(gpu, trace_.copies, work.copies[copy++], context_.attribution.copy_range, &OpTotals::copy_ns);
      else
        AddCopy(gpu, trace_.sets, work.sets[set++], context_.attribution.set_range, &OpTotals::set_ns);
    }
  }

  // The op of something that ran on a GPU, with its busy time extended; null outside the window.
  OpTotals* Extend(size_t gpu, const GpuOperations& table, uint32_t i, PathId path, NameId lone_kernel) {
    if (table.start[i] < context_.windows[gpu].start) return nullptr;
    OpTotals& op = At(context_.ranks.gpus[gpu].rank, path, lone_kernel);
    const auto index = static_cast<size_t>(&op - totals_.data());
    if (busy_until_.size() <= index) busy_until_.resize(totals_.size(), std::numeric_limits<Ns>::min());
    Ns& until = busy_until_[index];
    op.owns_work = true;
    op.busy_ns += std::max<Ns>(0, table.end[i] - std::max(table.start[i], until));
    until = std::max(until, table.end[i]);
    return &op;
  }

  void AddKernel(size_t gpu, uint32_t i) {
    const Kernels& kernels = trace_.kernels;
    const PathId path = context_.paths->Of(context_.attribution.kernel_range[i]);
    OpTotals* op = Extend(gpu, kernels, i, path, path == kNoPath ? kernels.short_name[i] : kNoName);
    if (!op) return;
    if (path == kNoPath) ++op->calls;
    AddEarlyRange(*op, context_.attribution.kernel_range[i]);
    const int64_t duration = kernels.end[i] - kernels.start[i];
    const KernelTraits& traits = context_.kernels[kernels.name[i]];
    ++op->kernels;
    op->gpu_ns += duration;
    op->gpu_ns_on[gpu] += duration;
    op->inherited += context_.attribution.kernel_inherited[i];
    op->eligible_kernel |= traits.eligible || traits.tensor_core == true;
    op->half |= IsHalf(traits.precision);
    op->tensor_core.Add(traits.tensor_core);
    if (traits.tensor_core == true) {
      op->tensor_core_ns += duration;
      op->tensor_core_ns_on[gpu] += duration;
    }
    if (!traits.tensor_core) op->tensor_core_unknown_ns_on[gpu] += duration;
    op->precision_ns[static_cast<size_t>(traits.precision)] += duration;
  }

  void AddCopy(size_t gpu, const GpuOperations& table, uint32_t i, const std::vector<uint32_t>& range_of,
               int64_t OpTotals::*total) {
    const PathId path = context_.paths->Of(range_of[i]);
    if (path == kNoPath) return;
    OpTotals* op = Extend(gpu, table, i, path, kNoName);
    if (!op) return;
    op->*total += table.end[i] - table.start[i];
    AddEarlyRange(*op, range_of[i]);
  }

  std::optional<std::string> PrecisionOf(const OpTotals& op) const {
    // As far as names show it: element-wise kernels beside a GEMM rarely name a type.
    const auto first = op.precision_ns.begin() + 1;
    const auto most = std::max_element(first, op.precision_ns.end());
    if (*most == 0) return std::nullopt;
    return std::string(PrecisionName(static_cast<Precision>(most - op.precision_ns.begin())));
  }

  // What an operator was called with; null where that was not recorded.
  const OperatorArguments* ArgumentsOf(uint32_t range) const {
    if (range == kNoIndex || trace_.ranges.arguments.size() == 0) return nullptr;
    return &trace_.operator_arguments[static_cast<size_t>(trace_.ranges.arguments[range])];
  }

  OpRow Row(const OpTotals& op) const {
    OpRow row;
    row.rank = op.rank;
    const Marker* marker = nullptr;
    const Marker* outer = nullptr;
    if (op.path == kNoPath) {
      row.op_type = std::string(trace_.names.View(op.lone_kernel));
      row.op = OpOfLoneKernel(row.op_type);
    } else {
      row.op = context_.paths->Text(op.path);
      row.op_type = context_.paths->OpType(op.path);
      if (const std::string_view direction = context_.paths->Direction(op.path); !direction.empty())
        row.direction = std::string(direction);
      marker = context_.paths->OpMarker(op.path);
      outer = context_.paths->TraceMarker(op.path);
    }
    row.calls = op.calls;
    row.kernels = op.kernels;
    row.cpu_ns = op.cpu_ns;
    if (op.path != kNoPath && op.calls > 0) {
      row.min_cpu_ns = op.min_cpu_ns;
      row.max_cpu_ns = op.max_cpu_ns;
      row.api_ns = op.api_ns;
      // Calls inherited from another thread may outlast the range.
      row.overhead_ns = std::max<int64_t>(0, op.cpu_ns - op.api_ns);
    }
    row.gpu_ns = op.gpu_ns;
    row.copy_ns = op.copy_ns;
    row.set_ns = op.set_ns;
    row.busy_ns = op.busy_ns;
    if (has_operators_ && op.first_range != kNoIndex)
      row.of_framework = IsOperator(op.first_range) || IsCompiledGraph(op.first_range);
    row.tensor_core_eligible = TensorCoreEligibleOp(row.op_type) || op.eligible_kernel;
    row.uses_tensor_cores = op.tensor_core.Get();
    row.tensor_core_ns = op.tensor_core_ns;
    if (marker && !marker->dtype.empty()) row.data_type = marker->dtype;
    if (marker && !marker->shapes.empty()) row.shapes = marker->shapes;
    if (const OperatorArguments* arguments = ArgumentsOf(op.first_range)) {
      const auto text = [&](NameId name) { return std::string(trace_.names.View(name)); };
      if (!row.shapes && arguments->shapes != kNoName) row.shapes = text(arguments->shapes);
      if (!row.data_type && arguments->types != kNoName) {
        const std::string_view type = ListItem(trace_.names.View(arguments->types), 0);
        if (!type.empty()) row.data_type = std::string(type);
      }
    }
    row.precision = PrecisionOf(op);
    // What was recorded decides where names leave it open; FP32 inputs leave TF32 open.
    const auto recorded = ParseElementType(row.data_type.value_or(""));
    const bool is_float = recorded && recorded->is_float && ParsePrecision(recorded->name);
    if (row.tensor_core_eligible && !row.precision && is_float && recorded->name != "fp32")
      row.precision = std::string(recorded->name);
    const bool half_type = is_float && IsHalf(*ParsePrecision(recorded->name));
    if (op.half || row.precision || is_float) row.half = op.half || half_type;
    if (outer && !outer->stack.empty()) row.stack = outer->stack;
    row.inherited_share =
        op.kernels == 0 ? 0 : static_cast<double>(op.inherited) / static_cast<double>(op.kernels);
    return row;
  }

  OpFamilies Finish() const {
    OpFamilies families;
    families.eligible_ns.assign(context_.work.size(), 0);
    families.eligible_tensor_core_ns.assign(context_.work.size(), 0);
    families.eligible_unknown_ns.assign(context_.work.size(), 0);
    for (const OpTotals& op : totals_) {
      if (!op.owns_work && !context_.paths->IsMarked(op.path)) continue;
      const OpRow& row = families.ops.emplace_back(Row(op));
      if (row.tensor_core_eligible)
        for (size_t gpu = 0; gpu < op.gpu_ns_on.size(); ++gpu) {
          families.eligible_ns[gpu] += op.gpu_ns_on[gpu];
          families.eligible_tensor_core_ns[gpu] += op.tensor_core_ns_on[gpu];
          families.eligible_unknown_ns[gpu] += op.tensor_core_unknown_ns_on[gpu];
        }
    }
    std::sort(families.ops.begin(), families.ops.end(), [](const OpRow& a, const OpRow& b) {
      return std::tuple(a.rank, -a.gpu_ns, std::string_view(a.op)) <
             std::tuple(b.rank, -b.gpu_ns, std::string_view(b.op));
    });
    AddTypes(families);
    AddGroups(families);
    return families;
  }

  static void AddTypes(OpFamilies& families) {
    std::map<std::pair<int64_t, std::string>, std::pair<OpTypeRow, Verdict>> types;
    for (const OpRow& op : families.ops) {
      auto& [row, verdict] = types[{op.rank, op.op_type}];
      row.rank = op.rank;
      row.op_type = op.op_type;
      ++row.ops;
      row.calls += op.calls;
      row.kernels += op.kernels;
      row.cpu_ns += op.cpu_ns;
      row.gpu_ns += op.gpu_ns;
      row.busy_ns += op.busy_ns;
      row.tensor_core_eligible |= op.tensor_core_eligible;
      row.tensor_core_ns += op.tensor_core_ns;
      verdict.Add(op.uses_tensor_cores);
    }
    for (auto& [key, entry] : types) {
      entry.first.uses_tensor_cores = entry.second.Get();
      families.op_types.push_back(std::move(entry.first));
    }
    std::sort(families.op_types.begin(), families.op_types.end(), [](const OpTypeRow& a, const OpTypeRow& b) {
      return std::tuple(a.rank, -a.gpu_ns, std::string_view(a.op_type)) <
             std::tuple(b.rank, -b.gpu_ns, std::string_view(b.op_type));
    });
  }

  static void AddGroups(OpFamilies& families) {
    std::map<std::pair<int64_t, std::string>, GroupOpRow> groups;
    for (const OpRow& op : families.ops) {
      if (!op.op.starts_with("/")) continue;
      for (size_t slash = 0; slash != std::string::npos; slash = op.op.find('/', slash + 1)) {
        GroupOpRow& row = groups[{op.rank, op.op.substr(0, slash + 1)}];
        row.rank = op.rank;
        row.op_group = op.op.substr(0, slash + 1);
        ++row.ops;
        row.calls += op.calls;
        row.eligible_ops += op.tensor_core_eligible;
        row.tensor_core_ops += op.uses_tensor_cores == true;
        row.cpu_ns += op.cpu_ns;
        row.gpu_ns += op.gpu_ns;
        row.busy_ns += op.busy_ns;
      }
    }
    for (auto& [key, row] : groups) families.groups.push_back(std::move(row));
  }

  const Context& context_;
  const Trace& trace_;
  std::map<int64_t, Interval> windows_;
  bool has_operators_ = false;
  std::vector<OpTotals> totals_;
  std::vector<bool> is_early_;                             // by range: counted by AddEarlyRange
  std::vector<Ns> busy_until_;                             // of each op on the GPU at hand
  std::map<int64_t, std::vector<uint32_t>> paths_, lone_;  // by rank: op by path, or by name of the kernel
};

}  // namespace

OpFamilies ComputeOps(const Context& context) { return OpTable(context).Build(); }

const Family& OpFamily() {
  static const Family family = FamilyOf(OpRelation(), &OpFamilies::ops).Detail();
  return family;
}

const Family& OpTypeFamily() {
  static const Family family = FamilyOf(OpTypeRelation(), &OpFamilies::op_types);
  return family;
}

const Family& GroupOpFamily() {
  static const Family family = FamilyOf(GroupOpRelation(), &OpFamilies::groups).Detail();
  return family;
}

}  // namespace dladvisor
