// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/family/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <stdexcept>

#include "src/trace/parallel.h"

namespace dladvisor {

Subject SubjectOf(std::span<const ValueKind* const> inputs) {
  const bool fleet =
      std::ranges::any_of(inputs, [](const ValueKind* input) { return input->subject == Subject::kFleet; });
  return fleet ? Subject::kFleet : Subject::kTrace;
}

std::vector<const ValueKind*> WithInputs(std::span<const ValueKind* const> kinds) {
  std::vector<const ValueKind*> ordered;
  std::set<const ValueKind*> seen;
  const std::function<void(const ValueKind*)> add = [&](const ValueKind* kind) {
    if (!seen.insert(kind).second) return;
    std::ranges::for_each(kind->inputs, add);
    ordered.push_back(kind);
  };
  std::ranges::for_each(kinds, add);
  return ordered;
}

ComputedValues::Slot& ComputedValues::SlotOf(const ValueKind& kind) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Slot>& slot = slots_[&kind];
  if (!slot) slot = std::make_unique<Slot>();
  return *slot;
}

const void* ComputedValues::Get(const ValueKind& kind) const {
  Slot& slot = SlotOf(kind);
  if (!kind.compute) {
    if (!slot.value) throw std::logic_error(fmt::format("no {} was given", kind.name));
    return slot.value.get();
  }
  std::call_once(slot.once, [&] {
    slot.value = kind.compute(*this);
    slot.is_computed = true;
  });
  return slot.value.get();
}

void ComputedValues::Compute(std::span<const ValueKind* const> kinds) const {
  const std::vector<const ValueKind*> ordered = WithInputs(kinds);
  std::map<const ValueKind*, size_t> index;
  std::vector<std::vector<size_t>> inputs(ordered.size());
  for (size_t i = 0; i < ordered.size(); ++i) {
    for (const ValueKind* input : ordered[i]->inputs) inputs[i].push_back(index.at(input));
    index[ordered[i]] = i;
  }
  ParallelInOrder(inputs, [&](size_t i) { Get(*ordered[i]); });
}

bool ComputedValues::Has(const ValueKind& kind) const {
  const std::lock_guard lock(mutex_);
  const auto slot = slots_.find(&kind);
  return slot != slots_.end() && (!kind.compute || slot->second->is_computed);
}

std::shared_ptr<void> ComputedValues::Take(const ValueKind& kind) {
  Get(kind);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<void> value = std::move(slots_[&kind]->value);
  slots_.erase(&kind);
  return value;
}

void ComputedValues::KeepOnly(std::span<const ValueKind* const> kinds) {
  const std::vector<const ValueKind*> kept = WithInputs(kinds);
  const std::lock_guard lock(mutex_);
  std::erase_if(slots_, [&](const auto& slot) {
    return slot.first->compute && std::ranges::find(kept, slot.first) == kept.end();
  });
}

ValueKind ComputedKind(std::string name, std::vector<const ValueKind*> inputs,
                       std::shared_ptr<void> (*compute)(const ComputedValues& values)) {
  const Subject subject = SubjectOf(inputs);
  return {std::move(name), std::move(inputs), compute, subject};
}

}  // namespace dladvisor
