// SPDX-License-Identifier: Apache-2.0
// The relation op_work: the GPU work of the calls of ops (op_call.h). There may be millions.
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

struct OpWorkSource {
  const Trace& trace;
  const KernelTraitsByName& kernels;
  const OpCalls& calls;
};

const GpuOperations& TableOf(const Trace& trace, OpWork::Kind kind) {
  if (kind == OpWork::Kind::kKernel) return trace.kernels;
  if (kind == OpWork::Kind::kCopy) return trace.copies;
  return trace.sets;
}

RelationOver<OpWorkSource> DeclareOpWork() {
  RelationOver<OpWorkSource> relation(
      "op_work", "One row per kernel, copy and memory set, with the call of an op that launched it.");
  // Columns that only kernels have, and those that only work with a known launching call has.
  const auto kernel = [](auto get) {
    return [get](const OpWorkSource& s, size_t i) {
      const OpWork& work = s.calls.work[i];
      return work.kind == OpWork::Kind::kKernel ? get(s, work.index) : CellView::Null();
    };
  };
  const auto api = [](auto get) {
    return [get](const OpWorkSource& s, size_t i) {
      const uint32_t call = s.calls.work[i].api;
      return call == kNoIndex ? CellView::Null() : get(s.trace, call);
    };
  };
  const auto table = [](auto get) {
    return [get](const OpWorkSource& s, size_t i) {
      const OpWork& work = s.calls.work[i];
      return get(s.trace, TableOf(s.trace, work.kind), work.index);
    };
  };
  constexpr Type kInteger = Type::kInteger, kText = Type::kText;
  constexpr Unit kNone = Unit::kNone, kNs = Unit::kNanoseconds;
  relation
      .Column(
          "op_call", kInteger, kNone, "Joins with op_call; unknown where the launching call is not recorded.",
          [](const OpWorkSource& s, size_t i) {
            const uint32_t call = s.calls.work[i].op_call;
            return call == kNoIndex ? CellView::Null() : CellView::Of(int64_t{call});
          },
          true)
      .Column("kind", kText, Unit::kText, "kernel, copy or set.",
              [](const OpWorkSource& s, size_t i) {
                constexpr std::string_view kKinds[] = {"kernel", "copy", "set"};
                return CellView::Of(kKinds[static_cast<size_t>(s.calls.work[i].kind)]);
              })
      .Column("name", kText, Unit::kText, "Name of a kernel without template arguments.",
              kernel([](const OpWorkSource& s, uint32_t i) {
                return CellView::Of(s.trace.names.View(s.trace.kernels.short_name[i]));
              }),
              true)
      .Column("long_name", kText, Unit::kText, "Demangled name of a kernel.",
              kernel([](const OpWorkSource& s, uint32_t i) {
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
              kernel([](const OpWorkSource& s, uint32_t i) {
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
        kernel([dimensions, axis = d % 3](const OpWorkSource& s, uint32_t i) {
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

const Family& OpWorkFamily() {
  static const RelationOver<OpWorkSource> relation = DeclareOpWork();
  static const Family family =
      FamilyOfRelation(relation.schema(), [](const Context& context, const OpCalls& calls) {
        return relation.Over(
            std::make_shared<OpWorkSource>(OpWorkSource{context.trace, context.kernels, calls}),
            calls.work.size());
      }).OnDemand();
  return family;
}

}  // namespace dladvisor
