// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/op_call.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/store/relation_over.h"
#include "src/analysis/context/op_path.h"
#include "src/analysis/context/tensor_core.h"
#include "src/analysis/family/family.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr Ns kNever = std::numeric_limits<Ns>::min();

class Builder {
 public:
  explicit Builder(const Context& context)
      : context_(context), trace_(context.trace), any_rank_(!context.ranks.gpus.empty()) {}

  OpCalls Build() {
    FindOwners();
    FindCalls();
    AddApiCalls();
    for (size_t gpu = 0; gpu < context_.work.size(); ++gpu) AddGpu(gpu);
    ChooseSteps();
    Number();
    AddWork();
    return std::move(out_);
  }

 private:
  // A call with what is only needed to build it.
  struct Draft {
    OpCall call;
    uint32_t range = kNoIndex, api = kNoIndex;  // one of them
    uint32_t thread = kNoIndex;
    Ns end = 0, api_until = kNever, gpu_until = kNever, gpu_start = kNever;
    bool counts = true;
  };

  bool Belongs(int64_t rank) const { return rank >= 0 || !any_rank_; }

  // The outermost range of the call that a range is a part of.
  uint32_t Root(uint32_t range) const {
    const PathId path = context_.paths->Of(range);
    for (uint32_t parent = context_.attribution.range_parent[range];
         parent != kNoIndex && context_.paths->Of(parent) == path;
         parent = context_.attribution.range_parent[range])
      range = parent;
    return range;
  }

  // Paths that make CUDA calls themselves; others are ops only where DLProf marked them.
  void FindOwners() {
    owns_.assign(context_.paths->size(), 0);
    for (const uint32_t range : context_.attribution.api_range)
      if (range != kNoIndex) owns_[context_.paths->Of(range)] = 1;
  }

  void FindCalls() {
    const Ranges& ranges = trace_.ranges;
    const ApiCalls& apis = trace_.api_calls;
    const auto add = [&](uint32_t thread, Ns start, Ns end) -> Draft* {
      const int64_t rank = context_.RankOfThread(thread);
      if (!Belongs(rank)) return nullptr;
      Draft& draft = drafts_.emplace_back();
      if (rank >= 0) draft.call.rank = rank;
      draft.thread = thread;
      draft.call.start = start;
      draft.call.cpu = end - start;
      draft.end = end;
      return &draft;
    };
    for (uint32_t i = 0; i < ranges.size(); ++i) {
      const PathId path = context_.paths->Of(i);
      if (ranges.kind[i] != RangeKind::kPushPop || !context_.paths->IsCall(i)) continue;
      if (!owns_[path] && !context_.paths->IsMarked(path)) continue;
      if (Draft* draft = add(ranges.thread[i], ranges.start[i], ranges.end[i])) draft->range = i;
    }
    Ns until = kNever;  // a driver call inside a runtime call is a part of it
    uint32_t thread = kNoIndex;
    for (uint32_t i = 0; i < apis.size(); ++i) {
      if (context_.attribution.api_range[i] != kNoIndex) continue;
      if (apis.thread[i] == thread && apis.end[i] <= until) continue;
      if (Draft* draft = add(apis.thread[i], apis.start[i], apis.end[i])) draft->api = i;
      thread = apis.thread[i];
      until = apis.end[i];
    }
    std::stable_sort(drafts_.begin(), drafts_.end(),
                     [](const Draft& a, const Draft& b) { return a.call.start < b.call.start; });
    of_root_.assign(ranges.size(), kNoIndex);
    of_api_.assign(apis.size(), kNoIndex);
    for (uint32_t i = 0; i < drafts_.size(); ++i) {
      if (drafts_[i].range != kNoIndex)
        of_root_[Root(drafts_[i].range)] = i;
      else
        of_api_[drafts_[i].api] = i;
    }
  }

  void AddApiCalls() {
    const ApiCalls& apis = trace_.api_calls;
    for (uint32_t i = 0; i < apis.size(); ++i) {
      if (const uint32_t range = context_.attribution.api_range[i]; range != kNoIndex)
        of_api_[i] = of_root_[Root(range)];
      if (of_api_[i] == kNoIndex) continue;
      Draft& draft = drafts_[of_api_[i]];
      // A call inherited from another thread may outlast the range.
      const Ns end = std::min(apis.end[i], draft.end);
      draft.call.api += std::max<Ns>(0, end - std::max(apis.start[i], draft.api_until));
      draft.api_until = std::max(draft.api_until, end);
    }
  }

  // What a GPU ran, in order of start, so that busy time and gaps of a call are running sums.
  void AddGpu(size_t gpu) {
    const GpuWork& work = context_.work[gpu];
    std::vector<std::pair<Ns, OpWork>> events;
    events.reserve(work.kernels.size() + work.copies.size() + work.sets.size());
    const auto add = [&](OpWork::Kind kind, const GpuOperations& table, const std::vector<uint32_t>& indices,
                         const std::vector<uint32_t>& launches) {
      for (const uint32_t i : indices) {
        const uint32_t api = launches[i];
        events.push_back({table.start[i], {kind, i, api, api == kNoIndex ? kNoIndex : of_api_[api]}});
      }
    };
    add(OpWork::Kind::kKernel, trace_.kernels, work.kernels, context_.launches.kernel);
    add(OpWork::Kind::kCopy, trace_.copies, work.copies, context_.launches.copy);
    add(OpWork::Kind::kSet, trace_.sets, work.sets, context_.launches.set);
    std::stable_sort(events.begin(), events.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (Draft& draft : drafts_) draft.gpu_until = kNever;
    for (const auto& [start, event] : events) {
      work_.push_back({gpu, event});
      if (event.op_call == kNoIndex) continue;
      Draft& draft = drafts_[event.op_call];
      const Ns end = TableOf(event.kind).end[event.index];
      if (draft.gpu_until != kNever) draft.call.idle += std::max<Ns>(0, start - draft.gpu_until);
      draft.call.gpu += std::max<Ns>(0, end - std::max(start, draft.gpu_until));
      draft.gpu_until = std::max(draft.gpu_until, end);
      if (draft.gpu_start == kNever || start < draft.gpu_start) draft.gpu_start = start;
      if (event.kind != OpWork::Kind::kKernel) continue;
      ++draft.call.kernels;
      draft.call.kernel += end - start;
    }
  }

  const GpuOperations& TableOf(OpWork::Kind kind) const {
    if (kind == OpWork::Kind::kKernel) return trace_.kernels;
    if (kind == OpWork::Kind::kCopy) return trace_.copies;
    return trace_.sets;
  }

  // The step of a rank that a time on the GPU lies in; null where none does.
  const Step* StepAt(int64_t rank, Ns time) const {
    for (const auto& [r, steps] : context_.steps.by_rank) {
      if (r != rank) continue;
      const auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                          [](Ns t, const Step& s) { return t < s.time.start; });
      if (after != steps.begin() && time < std::prev(after)->time.end) return &*std::prev(after);
    }
    return nullptr;
  }

  bool HasSteps(int64_t rank) const {
    return std::any_of(context_.steps.by_rank.begin(), context_.steps.by_rank.end(),
                       [&](const auto& entry) { return entry.first == rank; });
  }

  void ChooseSteps() {
    std::unordered_map<uint32_t, Ns> next_gpu_start;  // by thread
    for (auto draft = drafts_.rbegin(); draft != drafts_.rend(); ++draft) {
      const int64_t rank = draft->call.rank.value_or(-1);
      if (!HasSteps(rank)) {
        const Interval window = context_.HostWindowOf(rank);
        draft->counts = draft->call.start >= window.start && draft->call.start < window.end;
        continue;
      }
      Ns& next = next_gpu_start.try_emplace(draft->thread, kNever).first->second;
      if (draft->gpu_start != kNever) next = draft->gpu_start;
      const Step* step = next == kNever ? nullptr : StepAt(rank, next);
      draft->counts = step && !step->warmup;
      if (draft->counts) draft->call.step = step->number;
    }
  }

  // Gives every call that counts its op and node, in order of time.
  void Number() {
    position_.assign(drafts_.size(), kNoIndex);
    std::map<std::pair<PathId, NameId>, uint32_t> ops;
    std::map<std::tuple<std::optional<int64_t>, std::optional<int64_t>, uint32_t>, int64_t> occurrences;
    std::map<std::pair<uint32_t, int64_t>, uint32_t> nodes;
    std::map<std::string, int64_t> ids;
    std::unordered_map<NameId, uint32_t> markers;
    for (size_t i = 0; i < drafts_.size(); ++i) {
      const Draft& draft = drafts_[i];
      if (!draft.counts) continue;
      const PathId path = context_.paths->Of(draft.range);
      const NameId function = draft.api == kNoIndex ? kNoName : trace_.api_calls.name[draft.api];
      const auto [op, is_new_op] = ops.try_emplace({path, function}, static_cast<uint32_t>(out_.ops.size()));
      if (is_new_op) out_.ops.push_back(Describe(path, function));
      const int64_t occurrence = ++occurrences[{draft.call.rank, draft.call.step, op->second}];
      const auto [node, is_new_node] =
          nodes.try_emplace({op->second, occurrence}, static_cast<uint32_t>(out_.nodes.size()));
      if (is_new_node) {
        const std::string& type = out_.ops[op->second].op_type;
        std::string id = type;
        for (char& c : id) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        const int64_t number = ++ids[id];
        id += '_' + std::to_string(number);
        out_.nodes.push_back({op->second, occurrence, std::move(id), TensorCoreEligibleOp(type)});
      }
      OpCall call = draft.call;
      call.node = node->second;
      if (draft.range != kNoIndex) call.marker = MarkerOf(trace_.ranges.name[draft.range], markers);
      position_[i] = static_cast<uint32_t>(out_.calls.size());
      out_.calls.push_back(call);
    }
  }

  uint32_t MarkerOf(NameId name, std::unordered_map<NameId, uint32_t>& markers) {
    const auto [known, is_new] = markers.try_emplace(name, kNoIndex);
    if (is_new)
      if (Marker marker = ParseMarker(trace_.names.View(name)); marker.kind == Marker::Kind::kOp) {
        known->second = static_cast<uint32_t>(out_.markers.size());
        out_.markers.push_back(std::move(marker));
      }
    return known->second;
  }

  CalledOp Describe(PathId path, NameId function) const {
    CalledOp op;
    if (path == kNoPath) {
      op.op_type = std::string(trace_.names.View(function));
      op.op = "unassociated_" + op.op_type;
      return op;
    }
    op.op = context_.paths->Text(path);
    op.op_type = context_.paths->OpType(path);
    op.direction = std::string(context_.paths->Direction(path));
    if (const Marker* outer = context_.paths->TraceMarker(path)) op.stack = outer->stack;
    return op;
  }

  // The work of calls that count, and what in the window has no call.
  void AddWork() {
    for (auto& [gpu, event] : work_) {
      if (event.op_call != kNoIndex) {
        event.op_call = position_[event.op_call];
        if (event.op_call == kNoIndex) continue;
      } else {
        const Ns start = TableOf(event.kind).start[event.index];
        if (start < context_.windows[gpu].start || start >= context_.windows[gpu].end) continue;
      }
      out_.work.push_back(event);
      if (event.op_call == kNoIndex || event.kind != OpWork::Kind::kKernel) continue;
      OpNode& node = out_.nodes[out_.calls[event.op_call].node];
      const KernelTraits& traits = context_.kernels[trace_.kernels.name[event.index]];
      node.tensor_core_eligible |= traits.eligible || traits.tensor_core == true;
      node.uses_tensor_cores |= traits.tensor_core == true;
      node.may_use_tensor_cores |= !traits.tensor_core;
    }
  }

  const Context& context_;
  const Trace& trace_;
  const bool any_rank_;
  std::vector<uint8_t> owns_;                    // by path
  std::vector<Draft> drafts_;                    // by start
  std::vector<uint32_t> of_root_;                // by range -> draft
  std::vector<uint32_t> of_api_;                 // by API call -> draft
  std::vector<uint32_t> position_;               // by draft -> call
  std::vector<std::pair<size_t, OpWork>> work_;  // with its GPU; op_call is a draft
  OpCalls out_;
};

struct OpCallSource {
  const OpCalls& calls;
};

CellView TextOrNull(const std::string& text) {
  return text.empty() ? CellView::Null() : CellView::Of(std::string_view(text));
}

CellView OrNull(const std::optional<int64_t>& value) {
  return value ? CellView::Of(*value) : CellView::Null();
}

RelationOver<OpCallSource> DeclareOpCall() {
  RelationOver<OpCallSource> relation(
      "op_call",
      "One row per call of an op; CUDA calls outside all ranges are ops named unassociated_FUNCTION, as "
      "DLProf has them.");
  const auto integer = [](auto get) {
    return [get](const OpCallSource& s, size_t i) { return CellView::Of(int64_t{get(s.calls.calls[i])}); };
  };
  const auto node = [](auto get) {
    return [get](const OpCallSource& s, size_t i) { return get(s.calls.nodes[s.calls.calls[i].node]); };
  };
  const auto op = [](std::string CalledOp::*text) {
    return [text](const OpCallSource& s, size_t i) {
      const OpCalls& calls = s.calls;
      return TextOrNull(calls.ops[calls.nodes[calls.calls[i].node].op].*text);
    };
  };
  const auto name = [](std::string CalledOp::*text) {
    return [text](const OpCallSource& s, size_t i) {
      const OpCalls& calls = s.calls;
      return CellView::Of(std::string_view(calls.ops[calls.nodes[calls.calls[i].node].op].*text));
    };
  };
  const auto marker = [](std::string Marker::*text) {
    return [text](const OpCallSource& s, size_t i) {
      const uint32_t index = s.calls.calls[i].marker;
      return index == kNoIndex ? CellView::Null() : TextOrNull(s.calls.markers[index].*text);
    };
  };
  constexpr Type kInteger = Type::kInteger, kText = Type::kText;
  constexpr Unit kNone = Unit::kNone, kNs = Unit::kNanoseconds;
  relation
      .Column("op_call", kInteger, kNone, "Number of the call, from 0, in order of start.",
              [](const OpCallSource&, size_t i) { return CellView::Of(static_cast<int64_t>(i)); })
      .Column(
          "rank", kInteger, kNone, "Rank; unknown where no process has GPU work.",
          [](const OpCallSource& s, size_t i) { return OrNull(s.calls.calls[i].rank); }, true,
          capability::kGpuWork)
      .Column(
          "step", kInteger, kNone, "Number of the step; unknown without steps.",
          [](const OpCallSource& s, size_t i) { return OrNull(s.calls.calls[i].step); }, true)
      .Column("op", kText, Unit::kText, "Path of the op, as in op.", name(&CalledOp::op))
      .Column("op_type", kText, Unit::kText, "Kind of op.", name(&CalledOp::op_type))
      .Column("direction", kText, Unit::kText, "fprop or bprop.", op(&CalledOp::direction), true,
              capability::kRangesOfGpuWork)
      .Column("occurrence", kInteger, Unit::kCount, "1 for the op's first call in its step, and so on.",
              node([](const OpNode& n) { return CellView::Of(n.occurrence); }))
      .Column(
          "op_id", kText, Unit::kText,
          "DLProf's id: type in capitals and a number in order of first calls; one per occurrence of an op.",
          node([](const OpNode& n) { return CellView::Of(std::string_view(n.id)); }))
      .Column("start_ns", kInteger, kNs, "Start on the profile's clock.",
              integer([](const OpCall& c) { return c.start; }))
      .Column("cpu_ns", kInteger, kNs, "Host time of the call.",
              integer([](const OpCall& c) { return c.cpu; }))
      .Column("api_ns", kInteger, kNs, "Of it, inside CUDA calls.",
              integer([](const OpCall& c) { return c.api; }))
      .Column("overhead_ns", kInteger, kNs, "The rest: DLProf's CPU overhead.",
              integer([](const OpCall& c) { return c.cpu - c.api; }))
      .Column("gpu_ns", kInteger, kNs,
              "Time in which any of its kernels, copies and sets ran: DLProf's GPU time.",
              integer([](const OpCall& c) { return c.gpu; }))
      .Column("idle_ns", kInteger, kNs,
              "Time between its first and last GPU work in which none of it ran: DLProf's GPU idle.",
              integer([](const OpCall& c) { return c.idle; }))
      .Column("kernels", kInteger, Unit::kCount, "Kernel executions.",
              integer([](const OpCall& c) { return c.kernels; }))
      .Column("kernel_ns", kInteger, kNs, "Sum of their durations.",
              integer([](const OpCall& c) { return c.kernel; }))
      .Column("tensor_core_eligible", kInteger, kNone, "1 where the op id could use tensor cores.",
              node([](const OpNode& n) { return CellView::Of(int64_t{n.tensor_core_eligible}); }))
      .Column("uses_tensor_cores", kInteger, kNone,
              "1 where the op id does; unknown where a kernel's name does not show it.",
              node([](const OpNode& n) {
                return !n.uses_tensor_cores && n.may_use_tensor_cores
                           ? CellView::Null()
                           : CellView::Of(int64_t{n.uses_tensor_cores});
              }),
              true)
      .Column("data_type", kText, Unit::kText, "Element type of its first tensor, from DLProf markers.",
              marker(&Marker::dtype), true)
      .Column("shapes", kText, Unit::kText, "Shapes of its tensors, from DLProf markers.",
              marker(&Marker::shapes), true)
      .Column("stack", kText, Unit::kText, "Source lines of the op's first call, from DLProf markers.",
              op(&CalledOp::stack), true);
  return relation;
}

}  // namespace

OpCalls ComputeOpCalls(const Context& context) { return Builder(context).Build(); }

const Family& OpCallFamily() {
  static const RelationOver<OpCallSource> relation = DeclareOpCall();
  static const Family family =
      FamilyOfRelation(relation.schema(), [](const OpCalls& calls) {
        return relation.Over(std::make_shared<OpCallSource>(OpCallSource{calls}), calls.calls.size());
      }).OnDemand(/*sorted_column=*/0);
  return family;
}

}  // namespace dladvisor
