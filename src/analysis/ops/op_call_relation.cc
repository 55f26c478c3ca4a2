// SPDX-License-Identifier: Apache-2.0
// The relations op_call and op_work: the calls of op_call.h and their GPU work. There may be millions.
#include <memory>
#include <string>
#include <string_view>

#include "engine/store/relation_over.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/family.h"
#include "src/analysis/ops/op_call.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

struct OpCallSource {
  const Trace& trace;
  const KernelTraitsByName& kernels;
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

const GpuOperations& TableOf(const Trace& trace, OpWork::Kind kind) {
  if (kind == OpWork::Kind::kKernel) return trace.kernels;
  if (kind == OpWork::Kind::kCopy) return trace.copies;
  return trace.sets;
}

RelationOver<OpCallSource> DeclareOpWork() {
  RelationOver<OpCallSource> relation(
      "op_work", "One row per kernel, copy and memory set, with the call of an op that launched it.");
  // Columns that only kernels have, and those that only work with a known launching call has.
  const auto kernel = [](auto get) {
    return [get](const OpCallSource& s, size_t i) {
      const OpWork& work = s.calls.work[i];
      return work.kind == OpWork::Kind::kKernel ? get(s, work.index) : CellView::Null();
    };
  };
  const auto api = [](auto get) {
    return [get](const OpCallSource& s, size_t i) {
      const uint32_t call = s.calls.work[i].api;
      return call == kNoIndex ? CellView::Null() : get(s.trace, call);
    };
  };
  const auto table = [](auto get) {
    return [get](const OpCallSource& s, size_t i) {
      const OpWork& work = s.calls.work[i];
      return get(s.trace, TableOf(s.trace, work.kind), work.index);
    };
  };
  constexpr Type kInteger = Type::kInteger, kText = Type::kText;
  constexpr Unit kNone = Unit::kNone, kNs = Unit::kNanoseconds;
  relation
      .Column(
          "op_call", kInteger, kNone, "Joins with op_call; unknown where the launching call is not recorded.",
          [](const OpCallSource& s, size_t i) {
            const uint32_t call = s.calls.work[i].op_call;
            return call == kNoIndex ? CellView::Null() : CellView::Of(int64_t{call});
          },
          true)
      .Column("kind", kText, Unit::kText, "kernel, copy or set.",
              [](const OpCallSource& s, size_t i) {
                constexpr std::string_view kKinds[] = {"kernel", "copy", "set"};
                return CellView::Of(kKinds[static_cast<size_t>(s.calls.work[i].kind)]);
              })
      .Column("name", kText, Unit::kText, "Name of a kernel without template arguments.",
              kernel([](const OpCallSource& s, uint32_t i) {
                return CellView::Of(s.trace.names.View(s.trace.kernels.short_name[i]));
              }),
              true)
      .Column("long_name", kText, Unit::kText, "Demangled name of a kernel.",
              kernel([](const OpCallSource& s, uint32_t i) {
                return CellView::Of(s.trace.names.View(s.trace.kernels.name[i]));
              }),
              true)
      .Column("device", kInteger, kNone, "CUDA device ordinal.",
              table([](const Trace& t, const GpuOperations& o, uint32_t i) {
                return o.device[i] == kNoIndex ? CellView::Null()
                                               : CellView::Of(t.devices[o.device[i]].ordinal);
              }),
              true)
      .Column(
          "start_ns", kInteger, kNs, "Start on the profile's clock.",
          table([](const Trace&, const GpuOperations& o, uint32_t i) { return CellView::Of(o.start[i]); }))
      .Column("duration_ns", kInteger, kNs, "Its time on the GPU.",
              table([](const Trace&, const GpuOperations& o, uint32_t i) {
                return CellView::Of(o.end[i] - o.start[i]);
              }))
      .Column("api", kText, Unit::kText, "Function that launched it.",
              api([](const Trace& t, uint32_t i) { return CellView::Of(t.names.View(t.api_calls.name[i])); }),
              true, capability::kGpuWork)
      .Column("api_start_ns", kInteger, kNs, "Start of the launching call.",
              api([](const Trace& t, uint32_t i) { return CellView::Of(t.api_calls.start[i]); }), true,
              capability::kGpuWork)
      .Column("api_ns", kInteger, kNs, "Duration of the launching call.", api([](const Trace& t, uint32_t i) {
                return CellView::Of(t.api_calls.end[i] - t.api_calls.start[i]);
              }),
              true, capability::kGpuWork)
      .Column("uses_tensor_cores", kInteger, kNone, "1 or 0; unknown where a kernel's name does not show it.",
              kernel([](const OpCallSource& s, uint32_t i) {
                const auto uses = s.kernels[s.trace.kernels.name[i]].tensor_core;
                return uses ? CellView::Of(int64_t{*uses}) : CellView::Null();
              }),
              true);
  for (size_t d = 0; d < 6; ++d) {
    const auto dimensions = d < 3 ? &LaunchShape::grid : &LaunchShape::block;
    const char axis = "xyz"[d % 3];
    relation.Column(
        std::string(d < 3 ? "grid_" : "block_") + axis, kInteger, Unit::kCount,
        d < 3 ? "Thread blocks of a kernel in this dimension."
              : "Threads per block of a kernel in this dimension.",
        kernel([dimensions, axis = d % 3](const OpCallSource& s, uint32_t i) {
          const Kernels& k = s.trace.kernels;
          return k.shape.size() == 0
                     ? CellView::Null()
                     : CellView::Of((k.shapes[static_cast<size_t>(k.shape[i])].*dimensions)[axis]);
        }),
        true);
  }
  return relation;
}

}  // namespace

const Family& OpCallFamily() {
  static const RelationOver<OpCallSource> relation = DeclareOpCall();
  static const Family family =
      FamilyOfRelation(relation.schema(), [](const Context& context, const OpCalls& calls) {
        return relation.Over(
            std::make_shared<OpCallSource>(OpCallSource{context.trace, context.kernels, calls}),
            calls.calls.size());
      }).OnDemand(/*sorted_column=*/0);
  return family;
}

const Family& OpWorkFamily() {
  static const RelationOver<OpCallSource> relation = DeclareOpWork();
  static const Family family =
      FamilyOfRelation(relation.schema(), [](const Context& context, const OpCalls& calls) {
        return relation.Over(
            std::make_shared<OpCallSource>(OpCallSource{context.trace, context.kernels, calls}),
            calls.work.size());
      }).OnDemand();
  return family;
}

}  // namespace dladvisor
