// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/call_groups.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "src/analysis/efficiency/kernel_precision.h"

namespace dladvisor {
namespace {

class CallGrouper {
 public:
  CallGrouper(const Context& context, const OperatorWork& work)
      : context_(context), work_(work), notes_(context.kernels.size()) {
    for (const DistinctOperator& of : work.operators) {
      std::optional<Precision>& recorded = recorded_.emplace_back();
      if (const auto& known = of.result.work; known && known->flops && !known->data_type.empty())
        recorded = ParsePrecision(known->data_type).value_or(Precision::kUnknown);
    }
  }

  CallGroups Build() {
    for (size_t gpu = 0; gpu < work_.gpus.size(); ++gpu) AddGpu(gpu);
    Join();
    return std::move(out_);
  }

 private:
  void AddGpu(size_t gpu) {
    const Kernels& kernels = context_.trace.kernels;
    newest_.assign(work_.operators.size(), kNoIndex);
    for (const OperatorWorkCall& call : work_.gpus[gpu].calls) {
      const std::optional<Work>& work = work_.operators[call.operation].result.work;
      const NameId kernel = kernels.name[call.kernel];
      Precision precision = Precision::kUnknown;
      int64_t element_bytes = 0;
      if (work && work->flops)
        precision = PrecisionOf(recorded_[call.operation], context_.kernels[kernel], NoteOfName(kernel));
      if (work && !work->bytes && work->untyped_elements) element_bytes = NoteOfName(kernel).element_bytes;
      CallGroup& group = GroupOf(gpu, call.operation, precision, element_bytes);
      group.winograd |= call.winograd;
      ++group.calls;
      group.recomputed += work_.IsRecomputed(call);
      group.kernels += call.kernels;
      group.gpu_ns += call.kernel_ns;
    }
  }

  // Those of one operator are few.
  CallGroup& GroupOf(size_t gpu, uint32_t operation, Precision precision, int64_t element_bytes) {
    for (uint32_t at = newest_[operation]; at != kNoIndex; at = out_.groups[at].next_of_operation)
      if (CallGroup& known = out_.groups[at];
          known.precision == precision && known.element_bytes == element_bytes)
        return known;
    CallGroup& group = out_.groups.emplace_back();
    group.gpu = gpu;
    group.rank = context_.ranks.gpus[gpu].rank;
    group.operation = operation;
    group.precision = precision;
    group.element_bytes = element_bytes;
    group.next_of_operation = newest_[operation];
    newest_[operation] = static_cast<uint32_t>(out_.groups.size() - 1);
    return group;
  }

  const KernelNote& NoteOfName(NameId name) {
    KernelNote& note = notes_[name];
    if (!note.is_known) note = NoteOf(context_.trace.names.View(name), context_.kernels[name]);
    return note;
  }

  auto KeyOf(const CallGroup& group) const {
    const DistinctOperator& of = work_.operators[group.operation];
    return std::tuple(group.rank, of.name_number, of.shapes, PrecisionNameOf(work_, group),
                      DataTypeOf(work_, group));
  }

  uint64_t HashOf(const CallGroup& group) const {
    const DistinctOperator& of = work_.operators[group.operation];
    uint64_t hash = of.shapes;
    for (const uint64_t part : {uint64_t{of.name_number}, static_cast<uint64_t>(group.rank),
                                static_cast<uint64_t>(group.precision)})
      hash = (hash ^ hash >> 29) * 0x9E3779B97F4A7C15U + part;
    return hash ^ hash >> 32;
  }

  void Join() {
    size_t size = 64;
    while (size < 2 * out_.groups.size()) size *= 2;
    std::vector<uint32_t> slots(size, kNoIndex);  // a hash table of rows
    for (uint32_t i = 0; i < out_.groups.size(); ++i) {
      const CallGroup& group = out_.groups[i];
      uint64_t at = HashOf(group) & (size - 1);
      while (slots[at] != kNoIndex && KeyOf(out_.groups[out_.rows[slots[at]].first]) != KeyOf(group))
        at = (at + 1) & (size - 1);
      if (slots[at] == kNoIndex) {
        slots[at] = static_cast<uint32_t>(out_.rows.size());
        out_.rows.push_back({.first = i, .last = i, .rank = group.rank});
      }
      GroupRow& row = out_.rows[slots[at]];
      if (row.last != i) out_.groups[row.last].next_of_row = i;
      row.last = i;
      row.gpu_ns += group.gpu_ns;
      row.has_work |= work_.operators[group.operation].result.work.has_value();
    }
  }

  const Context& context_;
  const OperatorWork& work_;
  std::vector<KernelNote> notes_;                   // by name id
  std::vector<std::optional<Precision>> recorded_;  // by operator, of those with FLOPs
  std::vector<uint32_t> newest_;                    // by operator: the last group of the GPU at hand
  CallGroups out_;
};

}  // namespace

std::string_view DataTypeOf(const OperatorWork& work, const CallGroup& group) {
  const std::optional<Work>& of = work.operators[group.operation].result.work;
  return of ? of->data_type : std::string_view();
}

std::string_view PrecisionNameOf(const OperatorWork& work, const CallGroup& group) {
  const std::optional<Work>& of = work.operators[group.operation].result.work;
  return of && of->flops ? PrecisionName(group.precision) : std::string_view();
}

CallGroups GroupCalls(const Context& context, const OperatorWork& work) {
  return CallGrouper(context, work).Build();
}

}  // namespace dladvisor
