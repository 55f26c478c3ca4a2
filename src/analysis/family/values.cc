// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/family/values.h"

#include <fmt/format.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <set>
#include <stdexcept>

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
  // Isolated: a thread that waits for its own parallel work must not take up a task that waits for this
  // value.
  std::call_once(slot.once,
                 [&] { tbb::this_task_arena::isolate([&] { slot.value = kind.compute(*this); }); });
  return slot.value.get();
}

void ComputedValues::Compute(std::span<const ValueKind* const> kinds) const {
  struct Task {
    const ValueKind* kind = nullptr;
    std::vector<Task*> dependents;
    std::atomic<size_t> missing{0};  // inputs
  };
  std::map<const ValueKind*, Task> tasks;
  const std::vector<const ValueKind*> ordered = WithInputs(kinds);
  for (const ValueKind* kind : ordered) {
    Task& task = tasks[kind];
    task.kind = kind;
    const std::set<const ValueKind*> inputs(kind->inputs.begin(), kind->inputs.end());
    task.missing = inputs.size();
    for (const ValueKind* input : inputs) tasks[input].dependents.push_back(&task);
  }
  // A task begins when its inputs are there, so that none ever waits for another.
  tbb::task_group group;
  const std::function<void(Task&)> run = [&](Task& task) {
    group.run([&] {
      Get(*task.kind);
      for (Task* dependent : task.dependents)
        if (--dependent->missing == 0) run(*dependent);
    });
  };
  std::vector<Task*> ready;
  for (const ValueKind* kind : ordered)
    if (Task& task = tasks[kind]; task.missing == 0) ready.push_back(&task);
  for (Task* task : ready) run(*task);
  group.wait();
}

bool ComputedValues::Has(const ValueKind& kind) const {
  const std::lock_guard lock(mutex_);
  const auto slot = slots_.find(&kind);
  return slot != slots_.end() && slot->second->value != nullptr;
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

}  // namespace dladvisor
