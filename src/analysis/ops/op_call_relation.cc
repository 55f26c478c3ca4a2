#include "src/analysis/ops/op_call_relation.h"

#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "src/analysis/ops/op_call.h"

namespace dladvisor {
namespace {

// The calls of a trace, computed once, when they are first asked for.
class Source {
 public:
  Source(const Trace& of, AnalysisOptions options) : trace(of), options_(std::move(options)) {}

  const OpCalls& Get() const {
    std::call_once(once_, [this] {
      const Context context = MakeContext(trace, options_);
      kernels_ = context.kernels;
      calls_ = ComputeOpCalls(context);
    });
    return calls_;
  }
  const KernelTraits& TraitsOf(NameId kernel) const { return kernels_[kernel]; }

  const Trace& trace;

 private:
  AnalysisOptions options_;
  mutable std::once_flag once_;
  mutable OpCalls calls_;
  mutable KernelTraitsByName kernels_;
};

class LazyRelation final : public Relation {
 public:
  using Getter = std::function<CellView(const Source&, size_t row)>;
  using Count = std::function<size_t(const OpCalls&)>;

  LazyRelation(std::shared_ptr<const Source> source, std::string name, std::string doc, Count count,
               std::optional<size_t> sorted = std::nullopt)
      : source_(std::move(source)),
        schema_{std::move(name), std::move(doc), {}, {}},
        count_(std::move(count)),
        sorted_(sorted) {}

  LazyRelation& Add(std::string name, Type type, Unit unit, std::string doc, Getter get,
                    bool nullable = false, std::string capture = {}) {
    schema_.columns.push_back({std::move(name), type, unit, std::move(doc), nullable, std::move(capture)});
    getters_.push_back(std::move(get));
    return *this;
  }

  const Schema& schema() const override { return schema_; }
  size_t rows() const override { return count_(source_->Get()); }
  CellView At(size_t row, size_t column) const override {
    source_->Get();
    return getters_[column](*source_, row);
  }
  std::optional<size_t> SortedColumn() const override { return sorted_; }

 private:
  std::shared_ptr<const Source> source_;
  Schema schema_;
  Count count_;
  std::optional<size_t> sorted_;
  std::vector<Getter> getters_;
};

CellView TextOrNull(const std::string& text) {
  return text.empty() ? CellView::Null() : CellView::Of(std::string_view(text));
}

CellView OrNull(const std::optional<int64_t>& value) {
  return value ? CellView::Of(*value) : CellView::Null();
}

std::unique_ptr<Relation> OpCallRelation(const std::shared_ptr<const Source>& source) {
  auto relation = std::make_unique<LazyRelation>(
      source, "op_call",
      "One row per call of an op; CUDA calls outside all ranges are ops named unassociated_FUNCTION, as "
      "DLProf has them.",
      [](const OpCalls& calls) { return calls.calls.size(); }, 0);
  const auto integer = [](auto get) {
    return [get](const Source& s, size_t i) { return CellView::Of(int64_t{get(s.Get().calls[i])}); };
  };
  const auto node = [](auto get) {
    return [get](const Source& s, size_t i) { return get(s.Get().nodes[s.Get().calls[i].node]); };
  };
  const auto op = [](std::string CalledOp::*text) {
    return [text](const Source& s, size_t i) {
      const OpCalls& calls = s.Get();
      return TextOrNull(calls.ops[calls.nodes[calls.calls[i].node].op].*text);
    };
  };
  const auto name = [](std::string CalledOp::*text) {
    return [text](const Source& s, size_t i) {
      const OpCalls& calls = s.Get();
      return CellView::Of(std::string_view(calls.ops[calls.nodes[calls.calls[i].node].op].*text));
    };
  };
  const auto marker = [](std::string Marker::*text) {
    return [text](const Source& s, size_t i) {
      const uint32_t index = s.Get().calls[i].marker;
      return index == kNoIndex ? CellView::Null() : TextOrNull(s.Get().markers[index].*text);
    };
  };
  constexpr Type kInteger = Type::kInteger, kText = Type::kText;
  constexpr Unit kNone = Unit::kNone, kNs = Unit::kNanoseconds;
  relation
      ->Add("op_call", kInteger, kNone, "Number of the call, from 0, in order of start.",
            [](const Source&, size_t i) { return CellView::Of(static_cast<int64_t>(i)); })
      .Add(
          "rank", kInteger, kNone, "Rank; unknown where no process has GPU work.",
          [](const Source& s, size_t i) { return OrNull(s.Get().calls[i].rank); }, true, "--trace=cuda")
      .Add(
          "step", kInteger, kNone, "Number of the step; unknown without steps.",
          [](const Source& s, size_t i) { return OrNull(s.Get().calls[i].step); }, true)
      .Add("op", kText, Unit::kText, "Path of the op, as in op.", name(&CalledOp::op))
      .Add("op_type", kText, Unit::kText, "Kind of op.", name(&CalledOp::op_type))
      .Add("direction", kText, Unit::kText, "fprop or bprop.", op(&CalledOp::direction), true,
           "--trace=cuda,nvtx")
      .Add("occurrence", kInteger, Unit::kCount, "1 for the op's first call in its step, and so on.",
           node([](const OpNode& n) { return CellView::Of(n.occurrence); }))
      .Add("op_id", kText, Unit::kText,
           "DLProf's id: type in capitals and a number in order of first calls; one per occurrence of an op.",
           node([](const OpNode& n) { return CellView::Of(std::string_view(n.id)); }))
      .Add("start_ns", kInteger, kNs, "Start on the profile's clock.",
           integer([](const OpCall& c) { return c.start; }))
      .Add("cpu_ns", kInteger, kNs, "Host time of the call.", integer([](const OpCall& c) { return c.cpu; }))
      .Add("api_ns", kInteger, kNs, "Of it, inside CUDA calls.",
           integer([](const OpCall& c) { return c.api; }))
      .Add("overhead_ns", kInteger, kNs, "The rest: DLProf's CPU overhead.",
           integer([](const OpCall& c) { return c.cpu - c.api; }))
      .Add("gpu_ns", kInteger, kNs,
           "Time in which any of its kernels, copies and sets ran: DLProf's GPU time.",
           integer([](const OpCall& c) { return c.gpu; }))
      .Add("idle_ns", kInteger, kNs,
           "Time between its first and last GPU work in which none of it ran: DLProf's GPU idle.",
           integer([](const OpCall& c) { return c.idle; }))
      .Add("kernels", kInteger, Unit::kCount, "Kernel executions.",
           integer([](const OpCall& c) { return c.kernels; }))
      .Add("kernel_ns", kInteger, kNs, "Sum of their durations.",
           integer([](const OpCall& c) { return c.kernel; }))
      .Add("tensor_core_eligible", kInteger, kNone, "1 where the op id could use tensor cores.",
           node([](const OpNode& n) { return CellView::Of(int64_t{n.tensor_core_eligible}); }))
      .Add("uses_tensor_cores", kInteger, kNone,
           "1 where the op id does; unknown where a kernel's name does not tell.", node([](const OpNode& n) {
             return !n.uses_tensor_cores && n.may_use_tensor_cores
                        ? CellView::Null()
                        : CellView::Of(int64_t{n.uses_tensor_cores});
           }),
           true)
      .Add("data_type", kText, Unit::kText, "Element type of its first tensor, from DLProf markers.",
           marker(&Marker::dtype), true)
      .Add("shapes", kText, Unit::kText, "Shapes of its tensors, from DLProf markers.",
           marker(&Marker::shapes), true)
      .Add("stack", kText, Unit::kText, "Source lines of the op's first call, from DLProf markers.",
           op(&CalledOp::stack), true);
  return relation;
}

const GpuOps& OpsOf(const Trace& trace, OpWork::Kind kind) {
  if (kind == OpWork::Kind::kKernel) return trace.kernels;
  if (kind == OpWork::Kind::kCopy) return trace.copies;
  return trace.sets;
}

std::unique_ptr<Relation> OpWorkRelation(const std::shared_ptr<const Source>& source) {
  auto relation = std::make_unique<LazyRelation>(
      source, "op_work", "One row per kernel, copy and memory set, with the call of an op that launched it.",
      [](const OpCalls& calls) { return calls.work.size(); });
  // Columns that only kernels have, and those that only work with a known launching call has.
  const auto kernel = [](auto get) {
    return [get](const Source& s, size_t i) {
      const OpWork& work = s.Get().work[i];
      return work.kind == OpWork::Kind::kKernel ? get(s, work.index) : CellView::Null();
    };
  };
  const auto api = [](auto get) {
    return [get](const Source& s, size_t i) {
      const uint32_t call = s.Get().work[i].api;
      return call == kNoIndex ? CellView::Null() : get(s.trace, call);
    };
  };
  const auto ops = [](auto get) {
    return [get](const Source& s, size_t i) {
      const OpWork& work = s.Get().work[i];
      return get(s.trace, OpsOf(s.trace, work.kind), work.index);
    };
  };
  constexpr Type kInteger = Type::kInteger, kText = Type::kText;
  constexpr Unit kNone = Unit::kNone, kNs = Unit::kNanoseconds;
  relation
      ->Add(
          "op_call", kInteger, kNone, "Joins with op_call; unknown where the launching call is not recorded.",
          [](const Source& s, size_t i) {
            const uint32_t call = s.Get().work[i].op_call;
            return call == kNoIndex ? CellView::Null() : CellView::Of(int64_t{call});
          },
          true)
      .Add("kind", kText, Unit::kText, "kernel, copy or set.",
           [](const Source& s, size_t i) {
             constexpr std::string_view kKinds[] = {"kernel", "copy", "set"};
             return CellView::Of(kKinds[static_cast<size_t>(s.Get().work[i].kind)]);
           })
      .Add("name", kText, Unit::kText, "Name of a kernel without template arguments.",
           kernel([](const Source& s, uint32_t i) {
             return CellView::Of(s.trace.names.View(s.trace.kernels.short_name[i]));
           }),
           true)
      .Add("long_name", kText, Unit::kText, "Demangled name of a kernel.",
           kernel([](const Source& s, uint32_t i) {
             return CellView::Of(s.trace.names.View(s.trace.kernels.name[i]));
           }),
           true)
      .Add("device", kInteger, kNone, "CUDA device ordinal.",
           ops([](const Trace& t, const GpuOps& o, uint32_t i) {
             return o.device[i] == kNoIndex ? CellView::Null() : CellView::Of(t.devices[o.device[i]].ordinal);
           }),
           true)
      .Add("start_ns", kInteger, kNs, "Start on the profile's clock.",
           ops([](const Trace&, const GpuOps& o, uint32_t i) { return CellView::Of(o.start[i]); }))
      .Add("duration_ns", kInteger, kNs, "Its time on the GPU.",
           ops([](const Trace&, const GpuOps& o, uint32_t i) { return CellView::Of(o.end[i] - o.start[i]); }))
      .Add("api", kText, Unit::kText, "Function that launched it.",
           api([](const Trace& t, uint32_t i) { return CellView::Of(t.names.View(t.api_calls.name[i])); }),
           true, "--trace=cuda")
      .Add("api_start_ns", kInteger, kNs, "Start of the launching call.",
           api([](const Trace& t, uint32_t i) { return CellView::Of(t.api_calls.start[i]); }), true,
           "--trace=cuda")
      .Add("api_ns", kInteger, kNs, "Duration of the launching call.", api([](const Trace& t, uint32_t i) {
             return CellView::Of(t.api_calls.end[i] - t.api_calls.start[i]);
           }),
           true, "--trace=cuda")
      .Add("uses_tensor_cores", kInteger, kNone, "1 or 0; unknown where a kernel's name does not tell.",
           kernel([](const Source& s, uint32_t i) {
             const auto uses = s.TraitsOf(s.trace.kernels.name[i]).tensor_core;
             return uses ? CellView::Of(int64_t{*uses}) : CellView::Null();
           }),
           true);
  for (size_t d = 0; d < 6; ++d) {
    const auto dimensions = d < 3 ? &LaunchShape::grid : &LaunchShape::block;
    const char axis = "xyz"[d % 3];
    relation->Add(std::string(d < 3 ? "grid_" : "block_") + axis, kInteger, Unit::kCount,
                  d < 3 ? "Thread blocks of a kernel in this dimension."
                        : "Threads per block of a kernel in this dimension.",
                  kernel([dimensions, axis = d % 3](const Source& s, uint32_t i) {
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

std::vector<std::unique_ptr<Relation>> OpCallRelations(const Trace& trace, const AnalysisOptions& options) {
  const auto source = std::make_shared<const Source>(trace, options);
  std::vector<std::unique_ptr<Relation>> relations;
  relations.push_back(OpCallRelation(source));
  relations.push_back(OpWorkRelation(source));
  return relations;
}

}  // namespace dladvisor
