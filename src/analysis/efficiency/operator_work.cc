// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/operator_work.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "src/analysis/context/range_text.h"

namespace dladvisor {
namespace {

constexpr std::string_view kCountedWithin = "its work is that of an operator within it";

// "[[2, 3], [4]]" of "aten::mm, op_id = 7, sizes = [[2, 3], [4]], input_op_ids = [...]".
std::string_view SizesOf(std::string_view text) {
  const size_t at = text.find(", sizes = [");
  if (at == std::string_view::npos) return {};
  const size_t open = text.find('[', at);
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '[';
    depth -= text[i] == ']';
    if (depth == 0) return text.substr(open, i + 1 - open);
  }
  return {};
}

// "512; 141x512": shapes of tensors, then the values that decide the work of some.
std::string Describe(const Arguments& arguments, bool with_values) {
  std::string text;
  const auto add = [&](std::string_view part) {
    if (!text.empty()) text += "; ";
    text += part;
  };
  for (const Argument& argument : arguments.all()) {
    if (argument.is_list) {
      add(std::to_string(argument.tensors.size()) + " tensors");
      continue;
    }
    for (const Tensor& tensor : argument.tensors) {
      std::string shape;
      for (const int64_t size : tensor.shape) shape += (shape.empty() ? "" : "x") + std::to_string(size);
      add(shape.empty() ? "1" : shape);
    }
    if (with_values && argument.tensors.empty() && !argument.value.empty()) add(argument.value);
  }
  return text;
}

class OperatorWorkBuilder {
 public:
  explicit OperatorWorkBuilder(const Context& context)
      : context_(context), trace_(context.trace), ranges_(context.trace.ranges) {}

  OperatorWork Build() {
    out_.gpus.resize(context_.work.size());
    if (!ShapesAreRecorded()) {  // no work is known then
      AddUnattributed();
      return std::move(out_);
    }
    owner_.assign(ranges_.size(), kUnset);
    formulas_.resize(context_.texts->size());
    winograd_.assign(context_.kernels.size(), -1);
    for (size_t gpu = 0; gpu < context_.work.size(); ++gpu) AddGpu(gpu);
    LeaveOutOuter();
    FindRecomputation();
    return std::move(out_);
  }

 private:
  static constexpr uint32_t kUnset = kNoIndex - 1;

  // A range to which kernels count.
  struct Owner {
    uint32_t range, operation;
    uint32_t call;  // index into the calls of the GPU at hand, kNoIndex where it has none
  };

  struct OfText {
    bool is_known = false;
    Formula formula;
    bool backward = false;
  };

  bool ShapesAreRecorded() const {
    if (ranges_.size() == 0) return false;
    if (ranges_.arguments.size() > 0) return true;
    for (uint32_t text = 0; text < context_.texts->size(); ++text)
      if (context_.texts->MarkerAt(text).kind == Marker::Kind::kOp) return true;
    for (NameId name = 0; name < trace_.names.size(); ++name)
      if (!SizesOf(trace_.names.View(name)).empty()) return true;
    return false;
  }

  template <class Visit>
  void ForEachKernel(size_t gpu, Visit visit) {
    const Kernels& kernels = trace_.kernels;
    const Interval window = context_.windows[gpu];
    for (const uint32_t k : context_.work[gpu].kernels) {
      if (kernels.start[k] < window.start || kernels.start[k] >= window.end) continue;
      if (context_.kernels[kernels.name[k]].communication) continue;
      out_.gpus[gpu].kernel_ns += kernels.end[k] - kernels.start[k];
      visit(k);
    }
  }

  void AddUnattributed() {
    for (size_t gpu = 0; gpu < context_.work.size(); ++gpu) ForEachKernel(gpu, [](uint32_t) {});
  }

  void AddGpu(size_t gpu) {
    const Kernels& kernels = trace_.kernels;
    OperatorWork::OfGpu& of = out_.gpus[gpu];
    for (Owner& owner : owners_) owner.call = kNoIndex;
    ForEachKernel(gpu, [&](uint32_t k) {
      const uint32_t range = context_.attribution.kernel_range[k];
      if (range == kNoIndex || context_.attribution.kernel_inherited[k] || kernels.graph_node[k] != 0) return;
      Owner& owner = owners_[OwnerOf(range)];
      if (owner.call == kNoIndex) {
        owner.call = static_cast<uint32_t>(of.calls.size());
        OperatorWorkCall& added = of.calls.emplace_back();
        added.range = owner.range;
        added.operation = owner.operation;
        added.kernel = k;
      }
      OperatorWorkCall& call = of.calls[owner.call];
      const Ns duration = kernels.end[k] - kernels.start[k];
      const auto rank = [&](uint32_t kernel) {
        return std::pair(context_.kernels[kernels.name[kernel]].eligible,
                         kernels.end[kernel] - kernels.start[kernel]);
      };
      if (rank(k) > rank(call.kernel)) call.kernel = k;
      if (IsWinograd(kernels.name[k])) call.winograd = 1;
      ++call.kernels;
      call.kernel_ns += duration;
      of.attributed_ns += duration;
    });
  }

  bool IsWinograd(NameId name) {
    int8_t& known = winograd_[name];
    if (known < 0) known = trace_.names.View(name).find("inograd") != std::string_view::npos;
    return known != 0;
  }

  bool HasWork(uint32_t operation) const {
    return operation != kNoIndex && out_.operators[operation].result.work.has_value();
  }

  // The innermost range from this one on whose work is known; else this one, with the reason.
  uint32_t OwnerOf(uint32_t range) {
    if (owner_[range] != kUnset && owner_[range] != kNoIndex) return owner_[range];
    uint32_t known = kNoIndex;
    chain_.clear();
    for (uint32_t r = range; r != kNoIndex && owner_[r] != kNoIndex;  // nothing is known from there on
         r = context_.attribution.range_parent[r]) {
      if (owner_[r] != kUnset && HasWork(owners_[owner_[r]].operation)) {
        known = owner_[r];
        break;
      }
      chain_.push_back(r);
      const uint32_t operation = OperatorOf(r);
      if (!HasWork(operation)) continue;
      known = AddOwner(r, operation);
      break;
    }
    for (const uint32_t r : chain_) owner_[r] = known;
    if (known != kNoIndex) return known;
    const uint32_t operation = OperatorOf(range);
    return owner_[range] = AddOwner(range, operation == kNoIndex ? UnknownOperator(range) : operation);
  }

  uint32_t AddOwner(uint32_t range, uint32_t operation) {
    owners_.push_back({range, operation, kNoIndex});
    return static_cast<uint32_t>(owners_.size() - 1);
  }

  const OfText& FormulaOfText(uint32_t text) {
    OfText& of = formulas_[text];
    if (of.is_known) return of;
    of.is_known = true;
    const Marker& marker = context_.texts->MarkerAt(text);
    std::string name(context_.texts->TextAt(text));
    if (marker.kind == Marker::Kind::kOp) name = "aten::" + marker.name;
    of.formula = FormulaOf(name);
    of.backward = !of.formula && name.find("Backward") != std::string::npos;
    return of;
  }

  // The operator of a call whose work has a formula, whether or not what that needs is recorded.
  uint32_t OperatorOf(uint32_t range) {
    const uint32_t text = context_.texts->IndexOf(ranges_.name[range]);
    const OfText& of = FormulaOfText(text);
    if (of.formula) return OperatorWith(text, range, of.formula, range);
    if (!of.backward || ranges_.sequence.size() == 0 || ranges_.sequence[range] < 0 ||
        ranges_.forward_thread[range] == 0)
      return kNoIndex;
    const uint32_t forward = ForwardOf(range);
    if (forward == kNoIndex) return kNoIndex;
    const uint32_t forward_text = context_.texts->IndexOf(ranges_.name[forward]);
    return OperatorWith(text, forward, BackwardFormulaOf(context_.texts->TextAt(forward_text)), range);
  }

  // The work of a call by the arguments of `from`: computed once for each that differ.
  uint32_t OperatorWith(uint32_t text, uint32_t from, const Formula& formula, uint32_t call) {
    const std::string_view name = context_.texts->TextAt(text);
    const uint32_t batch = NeedsBatch(name) ? BatchAround(call) : kNoIndex;
    if (ranges_.arguments.size() > 0) {
      const int64_t index = ranges_.arguments[from];
      const auto next = static_cast<uint32_t>(out_.operators.size());
      const uint64_t key = uint64_t{text} << 32 | static_cast<uint32_t>(index);
      const auto [known, is_new] = batch == kNoIndex ? by_arguments_.try_emplace(key, next)
                                                     : by_batch_[ranges_.name[batch]].try_emplace(key, next);
      if (!is_new) return known->second;
      const OperatorArguments& of = trace_.operator_arguments[static_cast<size_t>(index)];
      const auto view = [&](NameId id) { return id == kNoName ? std::string_view() : trace_.names.View(id); };
      const Arguments arguments(view(of.shapes), view(of.types), view(of.strides), view(of.values));
      std::optional<BatchOfRange> lengths;
      if (batch != kNoIndex) lengths = ParseBatch(trace_.names.View(ranges_.name[batch]));
      Add(name, arguments,
          !arguments.HasTensor() ? WorkResult::Unknown(why::kNoShapes)
          : of.types == kNoName  ? WorkWithoutTypes(formula, view(of.shapes), view(of.values))
                                 : formula({arguments, lengths ? &*lengths : nullptr}));
      return known->second;
    }
    const Marker& marker = context_.texts->MarkerAt(text);
    const bool is_marker = marker.kind == Marker::Kind::kOp;
    const std::string sizes =
        is_marker ? '[' + marker.shapes + ']' : std::string(SizesOf(trace_.names.View(ranges_.name[from])));
    const auto [known, is_new] =
        by_sizes_.try_emplace({text, sizes}, static_cast<uint32_t>(out_.operators.size()));
    if (is_new)
      Add(is_marker ? std::string_view(marker.name) : name, Arguments(sizes, "", "", ""),
          WorkWithoutTypes(formula, sizes, ""));
    return known->second;
  }

  void Add(std::string_view name, const Arguments& arguments, const WorkResult& result) {
    DistinctOperator& added = out_.operators.emplace_back();
    added.name = name;
    added.result = result;
    const bool scalars_count = result.work && (result.work->kind == WorkKind::kConvolution ||
                                               result.work->kind == WorkKind::kAttention);
    added.shapes = Describe(arguments, scalars_count);
    for (const Argument& argument : arguments.all())
      if (!argument.is_list)
        for (const Tensor& tensor : argument.tensors) added.tensors.push_back(tensor.shape);
  }

  uint32_t UnknownOperator(uint32_t range) {
    const uint32_t text = context_.texts->IndexOf(ranges_.name[range]);
    const auto [known, is_new] = unknown_.try_emplace(text, static_cast<uint32_t>(out_.operators.size()));
    const Marker& marker = context_.texts->MarkerAt(text);
    if (is_new)
      out_.operators.push_back(
          {marker.kind == Marker::Kind::kPlain ? std::string(context_.texts->TextAt(text)) : marker.name,
           "",
           {},
           WorkResult::Unknown(why::kNoFormula)});
    return known->second;
  }

  uint32_t BatchAround(uint32_t range) const {
    while (range != kNoIndex && !trace_.names.View(ranges_.name[range]).starts_with("execute_"))
      range = context_.attribution.range_parent[range];
    return range;
  }

  uint32_t ProcessOf(uint32_t range) const {
    const uint32_t thread = ranges_.thread[range];
    return thread == kNoIndex ? kNoIndex : trace_.threads[thread].process;
  }

  // The forward operator with the number of a backward one, where its gradient has a formula; kNoIndex where
  // several threads have one.
  uint32_t ForwardOf(uint32_t backward) {
    if (!has_forward_) {
      has_forward_ = true;
      std::vector<int8_t> counts(context_.texts->size(), -1);
      for (uint32_t r = 0; r < ranges_.size(); ++r) {
        if (ranges_.sequence[r] < 0 || ranges_.forward_thread[r] != 0) continue;
        const uint32_t text = context_.texts->IndexOf(ranges_.name[r]);
        if (counts[text] < 0) counts[text] = BackwardFormulaOf(context_.texts->TextAt(text)) ? 1 : 0;
        if (!counts[text]) continue;
        const auto [known, is_new] = forward_.try_emplace({ProcessOf(r), ranges_.sequence[r]}, r);
        if (!is_new && ranges_.thread[known->second] != ranges_.thread[r]) known->second = kNoIndex;
      }
    }
    const auto known = forward_.find({ProcessOf(backward), ranges_.sequence[backward]});
    return known == forward_.end() ? kNoIndex : known->second;
  }

  // Where operators with FLOPs enclose others with some, the outer ones' kernels are of unknown work.
  void LeaveOutOuter() {
    std::vector<uint8_t> has_inner(ranges_.size(), 0);
    const auto has_flops = [&](const OperatorWorkCall& call) {
      const auto& work = out_.operators[call.operation].result.work;
      return work && work->flops;
    };
    for (const OperatorWork::OfGpu& gpu : out_.gpus)
      for (const OperatorWorkCall& call : gpu.calls)
        if (has_flops(call))
          for (uint32_t r = context_.attribution.range_parent[call.range]; r != kNoIndex && !has_inner[r];
               r = context_.attribution.range_parent[r])
            has_inner[r] = 1;
    std::map<uint32_t, uint32_t> outer;  // by operator, the same without work
    for (OperatorWork::OfGpu& gpu : out_.gpus)
      for (OperatorWorkCall& call : gpu.calls) {
        if (!has_inner[call.range] || !has_flops(call)) continue;
        const auto [known, is_new] =
            outer.try_emplace(call.operation, static_cast<uint32_t>(out_.operators.size()));
        if (is_new) {
          DistinctOperator without = out_.operators[call.operation];
          without.result = WorkResult::Unknown(kCountedWithin);
          out_.operators.push_back(std::move(without));
        }
        call.operation = known->second;
      }
  }

  // Activation checkpointing runs forward operators again within a node of the backward pass. They have
  // numbers of autograd's, as forward operators do; what computes gradients has none.
  void FindRecomputation() {
    if (ranges_.sequence.size() == 0) return;
    enum State : uint8_t { kOutside, kBackward, kRepeated };
    std::vector<int8_t> is_node(context_.texts->size(), -1);
    std::vector<uint8_t> state(ranges_.size(), kOutside);
    bool found = false;
    // Parents precede what they enclose.
    for (uint32_t r = 0; r < ranges_.size(); ++r) {
      const uint32_t text = context_.texts->IndexOf(ranges_.name[r]);
      if (is_node[text] < 0)
        is_node[text] = context_.texts->TextAt(text).starts_with("autograd::engine::evaluate_function");
      const uint32_t parent = context_.attribution.range_parent[r];
      const uint8_t around = parent == kNoIndex ? uint8_t{kOutside} : state[parent];
      if (is_node[text])
        state[r] = kBackward;
      else if (around == kBackward && ranges_.sequence[r] >= 0 && ranges_.forward_thread[r] == 0)
        state[r] = kRepeated;
      else
        state[r] = around;
      found |= state[r] == kRepeated;
    }
    if (!found) return;
    out_.recomputed = std::move(state);
    for (uint8_t& of : out_.recomputed) of = of == kRepeated;
  }

  const Context& context_;
  const Trace& trace_;
  const Ranges& ranges_;
  OperatorWork out_;
  std::vector<uint32_t> owner_;  // by range: kUnset, kNoIndex where none is known, else an index into owners_
  std::vector<Owner> owners_;
  std::vector<uint32_t> chain_;
  std::vector<int8_t> winograd_;  // by name id of a kernel, -1 where it was not looked at
  std::vector<OfText> formulas_;  // by index of text
  std::unordered_map<uint64_t, uint32_t> by_arguments_;                // by index of text and of arguments
  std::map<NameId, std::unordered_map<uint64_t, uint32_t>> by_batch_;  // the same, within a batch
  std::map<std::pair<uint32_t, std::string>, uint32_t> by_sizes_;
  std::unordered_map<uint32_t, uint32_t> unknown_;            // by index of text: operators without a formula
  std::map<std::pair<uint32_t, int64_t>, uint32_t> forward_;  // by process and number
  bool has_forward_ = false;
};

}  // namespace

OperatorWork ComputeOperatorWork(const Context& context) { return OperatorWorkBuilder(context).Build(); }

}  // namespace dladvisor
