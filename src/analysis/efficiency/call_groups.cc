// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/call_groups.h"

#include <algorithm>
#include <optional>

#include "src/analysis/efficiency/kernel_precision.h"

namespace dladvisor {
namespace {

class CallGrouper {
  // What is asked of operators, by the class of their work.
  struct OfClass {
    std::optional<Precision> recorded;  // of those with FLOPs
    uint8_t layout = 0;
    bool has_work = false, has_flops = false;
    bool needs_element = false;  // its size, to know the bytes
    bool needs_layout = false;   // of a product
  };

 public:
  CallGrouper(const Context& context, const OperatorWork& work)
      : context_(context), work_(work), notes_(context.kernels.size()) {
    out_.layouts = {""};
    for (const WorkClass& of : work.operators.classes()) {
      OfClass& known = classes_.emplace_back();
      known.has_work = of.kind.has_value();
      if (!known.has_work) continue;
      known.layout = LayoutOf(of.layout);
      known.needs_layout = of.kind == WorkKind::kMatrixProduct && of.layout.empty();
      known.has_flops = of.Has(kFlops);
      known.needs_element = !of.Has(kBytes) && of.Has(kUntypedElements);
      if (known.has_flops && !of.data_type.empty())
        known.recorded = ParsePrecision(of.data_type).value_or(Precision::kUnknown);
    }
  }

  CallGroups Build() {
    // As many as there may be: memory that is not used costs nothing.
    size_t most = 0;
    for (const OperatorWork::OfGpu& of : work_.gpus)
      most += std::min(of.calls.size(), 2 * work_.operators.size());
    out_.groups.reserve(most);
    out_.has_work.assign(work_.gpus.size(), 0);
    for (size_t gpu = 0; gpu < work_.gpus.size(); ++gpu) AddGpu(gpu);
    Join();
    return std::move(out_);
  }

 private:
  void AddGpu(size_t gpu) {
    const Kernels& kernels = context_.trace.kernels;
    newest_.assign(work_.operators.size(), kNoIndex);
    for (const OperatorWorkCall& call : work_.gpus[gpu].calls) {
      const OfClass& of = classes_[work_.operators[call.operation].work];
      Precision precision = Precision::kUnknown;
      uint8_t element_bytes = 0;
      uint8_t layout = of.layout;
      if (of.has_flops || of.needs_element) {
        const NameId kernel = kernels.name[call.kernel];
        const KernelNote& note = NoteOfName(kernel);
        if (of.has_flops) precision = PrecisionOf(of.recorded, context_.kernels[kernel], note);
        if (of.needs_element) element_bytes = static_cast<uint8_t>(note.element_bytes);
        if (of.needs_layout) layout = LayoutOf(note.layout);
      }
      CallGroup& group = GroupOf(gpu, call.operation, precision, element_bytes, layout);
      group.winograd |= call.winograd;
      group.fastest_ns = group.calls == 0 ? call.kernel_ns : std::min(group.fastest_ns, call.kernel_ns);
      group.longest_ns = std::max(group.longest_ns, call.kernel_ns);
      ++group.calls;
      group.recomputed += work_.IsRecomputed(call);
      group.kernels += call.kernels;
      group.gpu_ns += call.kernel_ns;
    }
  }

  // Those of one operator are few.
  CallGroup& GroupOf(size_t gpu, uint32_t operation, Precision precision, uint8_t element_bytes,
                     uint8_t layout) {
    for (uint32_t at = newest_[operation]; at != kNoIndex; at = out_.groups[at].next_of_operation)
      if (CallGroup& known = out_.groups[at];
          known.precision == precision && known.element_bytes == element_bytes && known.layout == layout)
        return known;
    CallGroup& group = out_.groups.emplace_back();
    group.gpu = static_cast<uint32_t>(gpu);
    group.operation = operation;
    group.precision = precision;
    group.element_bytes = element_bytes;
    group.layout = layout;
    group.next_of_operation = newest_[operation];
    newest_[operation] = static_cast<uint32_t>(out_.groups.size() - 1);
    return group;
  }

  // There are few layouts.
  uint8_t LayoutOf(std::string_view layout) {
    const auto index = std::ranges::find(out_.layouts, layout) - out_.layouts.begin();
    if (index == std::ssize(out_.layouts)) out_.layouts.push_back(layout);
    return static_cast<uint8_t>(index);
  }

  int64_t RankOf(const CallGroup& group) const { return context_.ranks.gpus[group.gpu].rank; }

  const KernelNote& NoteOfName(NameId name) {
    KernelNote& note = notes_[name];
    if (!note.is_known) note = NoteOf(context_.trace.names.View(name), context_.kernels[name]);
    return note;
  }

  // Of groups of one rank, and of operators with one name and one number of shapes.
  bool HasRowOf(const CallGroup& a, const CallGroup& b) const {
    return a.layout == b.layout && PrecisionNameOf(work_, a) == PrecisionNameOf(work_, b) &&
           DataTypeOf(work_, a) == DataTypeOf(work_, b);
  }

  // By operator, the first one of its name and shapes.
  std::vector<uint32_t> FindTwins() const {
    size_t size = 64;
    while (size < 2 * work_.operators.size()) size *= 2;
    std::vector<uint32_t> slots(size, kNoIndex);  // a hash table of operators
    std::vector<uint32_t> twins(work_.operators.size());
    for (uint32_t i = 0; i < twins.size(); ++i) {
      const auto& of = work_.operators[i];
      const uint64_t hash = (uint64_t{of.shapes} << 20 ^ of.name) * 0x9E3779B97F4A7C15U;
      size_t at = (hash >> 32) & (size - 1);
      const auto is_other = [&](uint32_t other) {
        return work_.operators[other].shapes != of.shapes || work_.operators[other].name != of.name;
      };
      while (slots[at] != kNoIndex && is_other(slots[at])) at = (at + 1) & (size - 1);
      if (slots[at] == kNoIndex) slots[at] = i;
      twins[i] = slots[at];
    }
    return twins;
  }

  void Join() {
    const std::vector<uint32_t> twins = FindTwins();
    std::vector<uint32_t> newest;  // by the first of twins: the last row of the rank at hand
    std::optional<int64_t> rank;
    out_.rows.reserve(out_.groups.size());
    for (uint32_t i = 0; i < out_.groups.size(); ++i) {
      const CallGroup& group = out_.groups[i];
      if (rank != RankOf(group)) {  // GPUs of one rank follow one another
        rank = RankOf(group);
        newest.assign(twins.size(), kNoIndex);
      }
      uint32_t& last = newest[twins[group.operation]];
      uint32_t row_index = last;
      while (row_index != kNoIndex && !HasRowOf(out_.groups[out_.rows[row_index].first], group))
        row_index = out_.rows[row_index].before;
      if (row_index == kNoIndex) {
        row_index = static_cast<uint32_t>(out_.rows.size());
        out_.rows.push_back({.first = i, .last = i, .before = last});
        last = row_index;
      }
      GroupRow& row = out_.rows[row_index];
      if (row.last != i) out_.groups[row.last].next_of_row = i;
      row.last = i;
      row.gpu_ns += group.gpu_ns;
      out_.has_work[group.gpu] |=
          static_cast<uint8_t>(classes_[work_.operators[group.operation].work].has_work);
    }
  }

  const Context& context_;
  const OperatorWork& work_;
  std::vector<KernelNote> notes_;  // by name id
  std::vector<OfClass> classes_;
  std::vector<uint32_t> newest_;  // by operator: the last group of the GPU at hand
  CallGroups out_;
};

}  // namespace

std::string_view DataTypeOf(const OperatorWork& work, const CallGroup& group) {
  return work.operators.ClassOf(work.operators[group.operation]).data_type;
}

std::string_view PrecisionNameOf(const OperatorWork& work, const CallGroup& group) {
  const WorkClass& of = work.operators.ClassOf(work.operators[group.operation]);
  return of.Has(kFlops) ? PrecisionName(group.precision) : std::string_view();
}

CallGroups GroupCalls(const Context& context, const OperatorWork& work) {
  return CallGrouper(context, work).Build();
}

}  // namespace dladvisor
