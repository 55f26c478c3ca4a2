// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/operator_tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/analysis/context/markers.h"
#include "src/analysis/context/profiler_step.h"
#include "src/analysis/context/tensor_core.h"

namespace dladvisor {
namespace {

// What a range is in the tree.
enum class Kind : uint8_t { kNone, kOperator, kScope };

class Builder {
 public:
  explicit Builder(const Context& context) : context_(context), trace_(context.trace) {}

  OperatorTree Build() {
    ListRanges();
    MergeDuplicates();
    AssignApiCalls();
    AddGpuWork();
    AddUp();
    DropDuplicates();
    return std::move(tree_);
  }

 private:
  // PyTorch's profiler distinguishes operators from annotations; elsewhere every range counts as one.
  Kind KindOf(uint32_t range) {
    const auto [kind, is_new] = kinds_.try_emplace(
        uint64_t{trace_.ranges.name[range]} << 32 | trace_.ranges.domain[range], Kind::kNone);
    if (!is_new) return kind->second;
    const std::string_view name = trace_.names.View(trace_.ranges.name[range]);
    const std::string_view domain = trace_.names.View(trace_.ranges.domain[range]);
    const bool is_loading =
        name.starts_with("enumerate(DataLoader)#") || name.starts_with("enumerate(DataPipe)#");
    const bool is_scope = is_loading || name == "DataParallel.forward" ||
                          name == "DistributedDataParallel.forward" || name.starts_with("Optimizer.") ||
                          domain == "nn.Module" || ProfilerStepNumber(name);
    if (is_scope)
      kind->second = Kind::kScope;
    else if (!has_operators_ || domain == kOperatorDomain)
      kind->second = Kind::kOperator;
    return kind->second;
  }

  int64_t RankOf(uint32_t thread) const {
    const uint32_t process = thread == kNoIndex ? kNoIndex : trace_.threads[thread].process;
    if (process == kNoIndex) return -1;
    return context_.ranks.gpus.empty() ? static_cast<int64_t>(process) : context_.ranks.of_process[process];
  }

  // The call of the innermost of these ranges that is in the tree.
  uint32_t CallAround(uint32_t range) const {
    while (range != kNoIndex && call_of_range_[range] == kNoIndex)
      range = context_.attribution.range_parent[range];
    return range == kNoIndex ? kNoIndex : call_of_range_[range];
  }

  void ListRanges() {
    const Ranges& ranges = trace_.ranges;
    for (uint32_t i = 0; i < ranges.size() && !has_operators_; ++i)
      has_operators_ = trace_.names.View(ranges.domain[i]) == kOperatorDomain;
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < ranges.size(); ++i)
      if (ranges.kind[i] == RangeKind::kPushPop && !ranges.open[i] && RankOf(ranges.thread[i]) >= 0 &&
          KindOf(i) != Kind::kNone)
        order.push_back(i);
    const auto before = [&](uint32_t a, uint32_t b) {
      return std::pair(ranges.start[a], -ranges.end[a]) < std::pair(ranges.start[b], -ranges.end[b]);
    };
    if (!std::ranges::is_sorted(order, before)) std::ranges::stable_sort(order, before);
    tree_.calls.reserve(order.size());
    call_of_range_.assign(ranges.size(), kNoIndex);
    tree_.name.assign(trace_.names.size(), kNoName);
    std::map<std::string, NameId, std::less<>> listed;
    for (const uint32_t range : order) {
      OperatorCall call;
      call.range = range;
      call.parent = CallAround(context_.attribution.range_parent[range]);
      call.is_operator = KindOf(range) == Kind::kOperator;
      call.rank = RankOf(ranges.thread[range]);
      call.host_total = ranges.end[range] - ranges.start[range];
      call_of_range_[range] = static_cast<uint32_t>(tree_.calls.size());
      tree_.calls.push_back(call);
      NameId& name = tree_.name[ranges.name[range]];
      if (name != kNoName) continue;
      std::string text(trace_.names.View(ranges.name[range]));
      if (!has_operators_) text = NormalizedRangeName(text);
      const auto [entry, is_new] = listed.try_emplace(text, static_cast<NameId>(tree_.names.size() + 1));
      if (is_new) tree_.names.push_back(text);
      name = entry->second;
    }
    for (OperatorCall& call : tree_.calls)
      call.eligible = call.is_operator && Eligible(trace_.ranges.name[call.range]);
  }

  bool Eligible(NameId name) {
    const auto [eligible, is_new] = eligible_.try_emplace(name, false);
    if (is_new) eligible->second = TensorCoreEligibleOp(OpTypeOfName(tree_.names[tree_.name[name] - 1]));
    return eligible->second;
  }

  NameId ListedName(uint32_t call) const { return tree_.name[trace_.ranges.name[tree_.calls[call].range]]; }

  void MergeDuplicates() {
    std::vector<uint32_t> children(tree_.calls.size(), 0);
    for (const OperatorCall& call : tree_.calls)
      if (call.parent != kNoIndex) ++children[call.parent];
    merged_.resize(tree_.calls.size());
    std::iota(merged_.begin(), merged_.end(), 0);
    for (uint32_t i = 0; i < tree_.calls.size(); ++i) {
      OperatorCall& call = tree_.calls[i];
      if (call.parent == kNoIndex) continue;
      call.parent = merged_[call.parent];
      if (!call.is_operator || !tree_.calls[call.parent].is_operator || children[call.parent] != 1 ||
          ListedName(i) != ListedName(call.parent))
        continue;
      merged_[i] = call.parent;
      children[call.parent] = children[i];
    }
  }

  void AssignApiCalls() {
    tree_.api_call.assign(trace_.api_calls.size(), kNoIndex);
    for (size_t i = 0; i < trace_.api_calls.size(); ++i) {
      const uint32_t range = context_.attribution.api_range[i];
      // What another thread had open is not an operator of this one.
      if (range == kNoIndex || trace_.ranges.thread[range] != trace_.api_calls.thread[i]) continue;
      const uint32_t call = CallAround(range);
      if (call == kNoIndex) continue;
      tree_.api_call[i] = merged_[call];
      tree_.calls[merged_[call]].host_self -= trace_.api_calls.end[i] - trace_.api_calls.start[i];
    }
  }

  void AddGpuWork() {
    const auto add = [&](const GpuOperations& ops, const std::vector<uint32_t>& launches,
                         auto uses_tensor_cores) {
      for (size_t i = 0; i < ops.size(); ++i) {
        const uint32_t owner = launches[i] == kNoIndex ? kNoIndex : tree_.api_call[launches[i]];
        if (owner == kNoIndex) continue;
        const Ns duration = ops.end[i] - ops.start[i];
        tree_.calls[owner].device_self += duration;
        if (!uses_tensor_cores(i)) continue;
        tree_.calls[owner].tensor_core_self += duration;
        if (duration > 0 && tree_.calls[owner].is_operator) tree_.calls[owner].eligible = true;
      }
    };
    const auto never = [](size_t) { return false; };
    add(trace_.kernels, context_.launches.kernel,
        [&](size_t i) { return context_.kernels[trace_.kernels.name[i]].tensor_core == true; });
    add(trace_.copies, context_.launches.copy, never);
    add(trace_.sets, context_.launches.set, never);
    add(trace_.graph_launches, context_.launches.graph, never);
  }

  void AddUp() {
    for (uint32_t i = static_cast<uint32_t>(tree_.calls.size()); i-- > 0;) {
      OperatorCall& call = tree_.calls[i];
      if (merged_[i] != i) continue;
      call.host_self += call.host_total;
      call.device_total += call.device_self;
      call.tensor_core_total += call.tensor_core_self;
      if (call.parent == kNoIndex) continue;
      OperatorCall& parent = tree_.calls[call.parent];
      parent.host_self -= call.host_total;
      parent.device_total += call.device_total;
      parent.tensor_core_total += call.tensor_core_total;
      parent.eligible |= parent.is_operator && call.eligible;
    }
  }

  void DropDuplicates() {
    std::vector<uint32_t> place(tree_.calls.size(), kNoIndex);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tree_.calls.size(); ++i) {
      if (merged_[i] != i) continue;
      place[i] = kept;
      OperatorCall& call = tree_.calls[kept++] = tree_.calls[i];
      if (call.parent != kNoIndex) call.parent = place[call.parent];
    }
    tree_.calls.resize(kept);
    for (uint32_t& call : tree_.api_call)
      if (call != kNoIndex) call = place[call];
  }

  const Context& context_;
  const Trace& trace_;
  OperatorTree tree_;
  bool has_operators_ = false;
  std::unordered_map<uint64_t, Kind> kinds_;  // by name and domain
  std::unordered_map<NameId, bool> eligible_;
  std::vector<uint32_t> call_of_range_, merged_;
};

}  // namespace

OperatorTree BuildOperatorTree(const Context& context) { return Builder(context).Build(); }

}  // namespace dladvisor
