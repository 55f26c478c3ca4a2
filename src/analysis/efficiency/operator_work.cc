// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/operator_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "src/analysis/context/range_text.h"
#include "src/analysis/efficiency/forward_calls.h"
#include "src/analysis/efficiency/known_sizes.h"
#include "src/analysis/efficiency/operator_outputs.h"

namespace dladvisor {
namespace {

constexpr Literal kCountedWithin = "its work is that of an operator within it";

constexpr std::string_view kSizes = ", sizes = [";

class OperatorWorkBuilder {
 public:
  explicit OperatorWorkBuilder(const Context& context)
      : context_(context),
        trace_(context.trace),
        ranges_(context.trace.ranges),
        kernel_notes_(context.kernels.size(), kNotAsked) {}

  OperatorWork Build() {
    out_.gpus.resize(context_.work.size());
    if (!ShapesAreRecorded()) {  // no work is known then
      AddUnattributed();
      return std::move(out_);
    }
    owner_.assign(ranges_.size(), kUnset);
    owners_.reserve(ranges_.size());
    formulas_.resize(context_.texts->size());
    gradients_.resize(context_.texts->size());
    by_arguments_.assign(trace_.operator_arguments.size(), kNoIndex);
    // As many as there may be: memory that is not used costs nothing.
    const bool by_name = ranges_.arguments.size() == 0;
    const size_t most = by_name ? trace_.names.size() : trace_.operator_arguments.size();
    out_.operators.Reserve(most);
    out_.shapes.Reserve(most);
    if (by_name) by_name_.assign(most, kNoIndex);
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
    bool is_backward = false, needs_batch = false, needs_output = false;
    uint32_t name_number = 0;       // in OperatorWork::names
    uint32_t of_marker = kNoIndex;  // the operator with the marker's shapes
  };

  // An operator with the arguments of others.
  struct Sharing {
    uint32_t text, operation, next;
  };

  bool ShapesAreRecorded() const {
    if (ranges_.size() == 0) return false;
    if (ranges_.arguments.size() > 0) return true;
    for (uint32_t text = 0; text < context_.texts->size(); ++text)
      if (context_.texts->MarkerAt(text).kind == Marker::Kind::kOp) return true;
    for (NameId name = 0; name < trace_.names.size(); ++name)
      if (!SizesInText(trace_.names.View(name)).empty()) return true;
    return false;
  }

  // What is asked of a kernel's name.
  enum KernelNote : uint8_t { kCommunication = 1, kProduct = 2, kWinograd = 4, kNotAsked = 255 };

  uint8_t NoteOfKernel(NameId name) {
    uint8_t& note = kernel_notes_[name];
    if (note == kNotAsked) {
      const KernelTraits& traits = context_.kernels[name];
      const bool winograd = trace_.names.View(name).find("inograd") != std::string_view::npos;
      note = static_cast<uint8_t>((traits.communication ? kCommunication : 0) |
                                  (traits.eligible ? kProduct : 0) | (winograd ? kWinograd : 0));
    }
    return note;
  }

  template <class Visit>
  void ForEachKernel(size_t gpu, Visit visit) {
    const Kernels& kernels = trace_.kernels;
    const Interval window = context_.windows[gpu];
    Ns all = 0;
    for (const uint32_t k : context_.work[gpu].kernels) {
      const Ns start = kernels.start[k];
      if (start < window.start || start >= window.end) continue;
      const uint8_t note = NoteOfKernel(kernels.name[k]);
      if (note & kCommunication) continue;
      const Ns duration = kernels.end[k] - start;
      all += duration;
      visit(k, note, duration);
    }
    out_.gpus[gpu].kernel_ns = all;
  }

  void AddUnattributed() {
    for (size_t gpu = 0; gpu < context_.work.size(); ++gpu) ForEachKernel(gpu, [](uint32_t, uint8_t, Ns) {});
  }

  void AddGpu(size_t gpu) {
    const Kernels& kernels = trace_.kernels;
    OperatorWork::OfGpu& of = out_.gpus[gpu];
    of.calls.reserve(context_.work[gpu].kernels.size());
    for (Owner& owner : owners_) owner.call = kNoIndex;
    ForEachKernel(gpu, [&](uint32_t k, uint8_t note, Ns duration) {
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
      if (call.kernel != k) {
        const uint32_t other = call.kernel;
        const bool product = note & kProduct, of_other = NoteOfKernel(kernels.name[other]) & kProduct;
        if (product != of_other ? product : duration > kernels.end[other] - kernels.start[other])
          call.kernel = k;
      }
      if (note & kWinograd) call.winograd = 1;
      ++call.kernels;
      call.kernel_ns += duration;
      of.attributed_ns += duration;
    });
  }

  bool HasWork(uint32_t operation) const {
    return operation != kNoIndex && out_.operators.ClassOf(out_.operators[operation]).kind.has_value();
  }

  // The innermost range from this one on whose work is known; else this one, with the reason.
  uint32_t OwnerOf(uint32_t range) {
    if (owner_[range] != kUnset && owner_[range] != kNoIndex) return owner_[range];
    uint32_t known = kNoIndex, own = kNoIndex;
    chain_.clear();
    for (uint32_t r = range; r != kNoIndex && owner_[r] != kNoIndex;  // nothing is known from there on
         r = context_.attribution.range_parent[r]) {
      if (owner_[r] != kUnset && HasWork(owners_[owner_[r]].operation)) {
        known = owner_[r];
        break;
      }
      chain_.push_back(r);
      const uint32_t operation = OperatorOf(r);
      if (r == range) own = operation;
      if (!HasWork(operation)) continue;
      known = AddOwner(r, operation);
      break;
    }
    for (const uint32_t r : chain_) owner_[r] = known;
    if (known != kNoIndex) return known;
    if (chain_.empty()) own = OperatorOf(range);
    return owner_[range] = AddOwner(range, own == kNoIndex ? UnknownOperator(range) : own);
  }

  uint32_t AddOwner(uint32_t range, uint32_t operation) {
    owners_.push_back({range, operation, kNoIndex});
    return static_cast<uint32_t>(owners_.size() - 1);
  }

  OfText& FormulaOfText(uint32_t text) {
    OfText& of = formulas_[text];
    if (of.is_known) return of;
    of.is_known = true;
    const Marker& marker = context_.texts->MarkerAt(text);
    const std::string_view whole = context_.texts->TextAt(text);
    of.formula = FormulaOf(marker.kind == Marker::Kind::kOp ? "aten::" + marker.name : std::string(whole));
    of.is_backward = !of.formula && whole.find("Backward") != std::string_view::npos;
    of.needs_batch = NeedsBatch(whole);
    of.needs_output = NeedsOutput(whole);
    const std::string_view name = marker.kind == Marker::Kind::kPlain ? whole : std::string_view(marker.name);
    const auto [known, is_new] = name_numbers_.try_emplace(name, static_cast<uint32_t>(name_numbers_.size()));
    of.name_number = known->second;
    if (is_new) out_.names.push_back(name);
    return of;
  }

  // That of an operator's gradient, by the operator's text.
  const Formula& GradientOf(uint32_t text) {
    std::optional<Formula>& formula = gradients_[text];
    if (!formula) formula = BackwardFormulaOf(context_.texts->TextAt(text));
    return *formula;
  }

  // The operator of a call whose work has a formula, whether or not what that needs is recorded.
  uint32_t OperatorOf(uint32_t range) {
    const uint32_t text = context_.texts->IndexOf(ranges_.name[range]);
    OfText& of = FormulaOfText(text);
    if (of.formula) return OperatorWith(text, of, range, of.formula, range);
    if (!of.is_backward || IsForward(range) || SequenceOf(range) < 0) return kNoIndex;
    const uint32_t forward = ForwardOf(range);
    if (forward == kNoIndex) return kNoIndex;
    return OperatorWith(text, of, forward, GradientOf(context_.texts->IndexOf(ranges_.name[forward])), range);
  }

  // Autograd's number, which a backward operator has of its forward one; -1 where there is none. In exports
  // it stands in the text of the range.
  int64_t SequenceOf(uint32_t range) const {
    if (ranges_.sequence.size() > 0) return ranges_.sequence[range];
    return context_.texts->SequenceOf(ranges_.name[range]);
  }

  // Whether it is recorded to be none of a backward pass.
  bool IsForward(uint32_t range) const {
    return ranges_.forward_thread.size() > 0 && ranges_.forward_thread[range] == 0;
  }

  // The work of a call by the arguments of `from`: computed once for each that differ.
  uint32_t OperatorWith(uint32_t text, OfText& of_text, uint32_t from, const Formula& formula,
                        uint32_t call) {
    if (ranges_.arguments.size() > 0)
      return OperatorWithArguments(text, of_text, static_cast<uint32_t>(ranges_.arguments[from]), formula,
                                   call);
    const Marker& marker = context_.texts->MarkerAt(text);
    if (marker.kind == Marker::Kind::kOp) {
      if (of_text.of_marker == kNoIndex)
        of_text.of_marker = AddWithoutTypes(of_text, formula, '[' + marker.shapes + ']');
      return of_text.of_marker;
    }
    if (of_text.needs_output)
      return OperatorWithOutput(text, of_text, ranges_.name[from], outputs_.Of(from), formula);
    if (from != call) return OperatorWithSizes(text, of_text, ranges_.name[from], formula);
    uint32_t& of_name = by_name_[ranges_.name[call]];
    if (of_name == kNoIndex) of_name = OperatorWithSizes(text, of_text, ranges_.name[call], formula);
    return of_name;
  }

  uint32_t OperatorWithSizes(uint32_t text, const OfText& of_text, NameId name, const Formula& formula) {
    const std::string_view whole = trace_.names.View(name), sizes = SizesInText(whole);
    // What is numbered by call has the sizes of others; else no other name has these.
    if (whole.ends_with(sizes) &&
        context_.texts->TextAt(text).size() + kSizes.size() - 1 + sizes.size() == whole.size())
      return AddWithoutTypes(of_text, formula, sizes);
    uint32_t& known = by_sizes_.At({text, sizes, {}});
    if (known == kNoIndex) known = AddWithoutTypes(of_text, formula, sizes);
    return known;
  }

  uint32_t OperatorWithOutput(uint32_t text, const OfText& of_text, NameId name, std::string_view output,
                              const Formula& formula) {
    const std::string_view sizes = SizesInText(trace_.names.View(name));
    uint32_t& known = by_sizes_.At({text, sizes, output});
    if (known != kNoIndex) return known;
    std::vector<Sizes> shapes;
    if (!output.empty()) shapes = ParseShapes(std::string(1, '[').append(output).append(1, ']'));
    return known = AddWithoutTypes(of_text, formula, sizes, shapes.empty() ? nullptr : &shapes[0]);
  }

  uint32_t OperatorWithArguments(uint32_t text, const OfText& of_text, uint32_t index, const Formula& formula,
                                 uint32_t call) {
    const uint32_t batch = of_text.needs_batch ? BatchAround(call) : kNoIndex;
    if (batch != kNoIndex) {
      uint32_t& known = by_batch_[ranges_.name[batch]].try_emplace({text, index}, kNoIndex).first->second;
      if (known == kNoIndex)
        known = AddWithArguments(of_text, formula, index, ParseBatch(trace_.names.View(ranges_.name[batch])));
      return known;
    }
    for (uint32_t at = by_arguments_[index]; at != kNoIndex; at = sharing_[at].next)
      if (sharing_[at].text == text) return sharing_[at].operation;
    const uint32_t added = AddWithArguments(of_text, formula, index, std::nullopt);
    sharing_.push_back({text, added, by_arguments_[index]});
    by_arguments_[index] = static_cast<uint32_t>(sharing_.size() - 1);
    return added;
  }

  uint32_t AddWithArguments(const OfText& of_text, const Formula& formula, uint32_t index,
                            const std::optional<BatchOfRange>& lengths) {
    const OperatorArguments& of = trace_.operator_arguments[index];
    const auto view = [&](NameId id) { return id == kNoName ? std::string_view() : trace_.names.View(id); };
    arguments_.Read(view(of.shapes), TypesOf(of.types), view(of.strides), view(of.values));
    if (of.types == kNoName) return Add(of_text, WorkWithoutTypes(formula, arguments_));
    return Add(of_text, arguments_.HasTensor() ? formula({arguments_, lengths ? &*lengths : nullptr, nullptr})
                                               : WorkResult::Unknown(why::kNoShapes));
  }

  uint32_t AddWithoutTypes(const OfText& of_text, const Formula& formula, std::string_view sizes,
                           const Sizes* output = nullptr) {
    arguments_.Read(sizes, TypesOf(kNoName), "", "");
    return Add(of_text, WorkWithoutTypes(formula, arguments_, output));
  }

  const ArgumentTypes& TypesOf(NameId types) {
    if (last_types_ && last_types_->first == types) return last_types_->second;
    const auto known = types_.find(types);
    last_types_ =
        known != types_.end()
            ? &*known
            : &*types_.emplace(types, ArgumentTypes(types == kNoName ? "" : trace_.names.View(types))).first;
    return last_types_->second;
  }

  // Of the arguments read last.
  uint32_t Add(const OfText& of_text, const WorkResult& result) {
    const bool scalars_count = result.work && (result.work->kind == WorkKind::kConvolution ||
                                               result.work->kind == WorkKind::kAttention);
    return out_.operators.Add(of_text.name_number, out_.shapes.Add(arguments_, scalars_count), result);
  }

  uint32_t UnknownOperator(uint32_t range) {
    const uint32_t text = context_.texts->IndexOf(ranges_.name[range]);
    const auto [known, is_new] = unknown_.try_emplace(text, kNoIndex);
    if (is_new)
      known->second = out_.operators.Add(FormulaOfText(text).name_number, out_.shapes.Add(Arguments(), false),
                                         WorkResult::Unknown(why::kNoFormula));
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
      AddForward();
    }
    return forward_.Find(ProcessOf(backward), SequenceOf(backward));
  }

  void AddForward() {
    std::vector<uint8_t> counts(context_.texts->size(), 0);
    bool any = false;
    for (uint32_t text = 0; text < counts.size(); ++text) {
      counts[text] = GradientOf(text) ? 1 : 0;
      any |= counts[text] != 0;
    }
    if (!any) return;
    for (uint32_t r = 0; r < ranges_.size(); ++r) {
      if (!counts[context_.texts->IndexOf(ranges_.name[r])]) continue;
      const int64_t sequence = SequenceOf(r);
      if (sequence < 0 || (ranges_.forward_thread.size() > 0 && ranges_.forward_thread[r] != 0)) continue;
      uint32_t& known = forward_.At(ProcessOf(r), sequence);
      if (known == ForwardCalls::kNew)
        known = r;
      else if (known != kNoIndex && ranges_.thread[known] != ranges_.thread[r])
        known = kNoIndex;
    }
  }

  // Where operators with FLOPs enclose others with some, the outer ones' kernels are of unknown work.
  void LeaveOutOuter() {
    std::vector<uint8_t> has_inner(ranges_.size(), 0);
    const auto has_flops = [&](const OperatorWorkCall& call) {
      return out_.operators.ClassOf(out_.operators[call.operation]).Has(kFlops);
    };
    bool any_outer = false;
    for (const OperatorWork::OfGpu& gpu : out_.gpus)
      for (const OperatorWorkCall& call : gpu.calls)
        if (has_flops(call))
          for (uint32_t r = context_.attribution.range_parent[call.range]; r != kNoIndex && !has_inner[r];
               r = context_.attribution.range_parent[r]) {
            has_inner[r] = 1;
            any_outer |= owner_[r] < owners_.size() && owners_[owner_[r]].range == r;
          }
    if (!any_outer) return;
    std::map<uint32_t, uint32_t> outer;  // by operator, the same without work
    for (OperatorWork::OfGpu& gpu : out_.gpus)
      for (OperatorWorkCall& call : gpu.calls) {
        if (!has_inner[call.range] || !has_flops(call)) continue;
        const auto [known, is_new] = outer.try_emplace(call.operation, kNoIndex);
        if (is_new) {
          const auto [name, shapes, work, first] = out_.operators[call.operation];
          known->second = out_.operators.Add(name, shapes, WorkResult::Unknown(kCountedWithin));
        }
        call.operation = known->second;
      }
  }

  // Activation checkpointing runs forward operators again within a node of the backward pass. They have
  // numbers of autograd's, as forward operators do; what computes gradients has none, but for the node's own
  // function, whose number is that of its forward operator.
  void FindRecomputation() {
    constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";
    enum State : uint8_t { kOutside, kBackward, kRepeated };
    std::vector<uint8_t> is_node(context_.texts->size(), 0);
    bool has_nodes = false, found = false;
    for (uint32_t text = 0; text < is_node.size(); ++text) {
      is_node[text] = context_.texts->TextAt(text).starts_with(kNode);
      has_nodes |= is_node[text] != 0;
    }
    if (!has_nodes) return;
    std::vector<uint8_t> state(ranges_.size(), kOutside);
    // Parents precede what they enclose.
    for (uint32_t r = 0; r < ranges_.size(); ++r) {
      const uint32_t text = context_.texts->IndexOf(ranges_.name[r]);
      const uint32_t parent = context_.attribution.range_parent[r];
      state[r] = parent == kNoIndex ? uint8_t{kOutside} : state[parent];
      if (is_node[text]) {
        state[r] = kBackward;
      } else if (state[r] == kBackward && SequenceOf(r) >= 0 &&
                 (ranges_.forward_thread.size() == 0 || ranges_.forward_thread[r] == 0)) {
        const uint32_t around = context_.texts->IndexOf(ranges_.name[parent]);
        const bool is_function = is_node[around] && context_.texts->TextAt(around).substr(kNode.size()) ==
                                                        context_.texts->TextAt(text);
        if (!is_function) state[r] = kRepeated;
      }
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
  std::vector<uint8_t> kernel_notes_;              // by name id of a kernel: KernelNote
  std::vector<OfText> formulas_;                   // by index of text
  std::vector<std::optional<Formula>> gradients_;  // by index of text
  std::unordered_map<std::string_view, uint32_t> name_numbers_;
  Arguments arguments_;  // of the call at hand
  std::unordered_map<NameId, ArgumentTypes> types_;
  const std::pair<const NameId, ArgumentTypes>* last_types_ = nullptr;  // of those, asked for last
  std::vector<uint32_t> by_arguments_;                                  // the last of sharing_ with them
  std::vector<Sharing> sharing_;
  // By the range of the batch: by index of text and of arguments.
  std::map<NameId, std::map<std::pair<uint32_t, uint32_t>, uint32_t>> by_batch_;
  std::vector<uint32_t> by_name_;  // by name id of a range: the operator with the sizes in it, or kNoIndex
  KnownSizes by_sizes_;
  std::unordered_map<uint32_t, uint32_t> unknown_;  // by index of text: operators without a formula
  OperatorOutputs outputs_{context_};
  ForwardCalls forward_;
  bool has_forward_ = false;
};

}  // namespace

OperatorWork ComputeOperatorWork(const Context& context) { return OperatorWorkBuilder(context).Build(); }

}  // namespace dladvisor
