// SPDX-License-Identifier: Apache-2.0
// Ranges of forward operators by their process and the number that autograd gave them: a hash table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor {

class ForwardCalls {
 public:
  static constexpr uint32_t kNew = kNoIndex - 1;

  uint32_t& At(uint32_t process, int64_t sequence) {
    if (slots_.size() < 2 * (used_ + 1)) Grow();
    Slot& slot = slots_[PlaceOf(process, sequence)];
    if (slot.sequence < 0) {
      slot = {sequence, process, kNew};
      ++used_;
    }
    return slot.range;
  }
  uint32_t Find(uint32_t process, int64_t sequence) const {
    return slots_.empty() ? kNoIndex : slots_[PlaceOf(process, sequence)].range;
  }

 private:
  struct Slot {
    int64_t sequence = -1;  // of none
    uint32_t process = 0, range = kNoIndex;
  };

  // Numbers that follow one another, as those of neighbours in a program do, lie side by side.
  size_t PlaceOf(uint32_t process, int64_t sequence) const {
    constexpr uint64_t kNeighbours = 8;
    const auto number = static_cast<uint64_t>(sequence);
    const uint64_t mixed = (number / kNeighbours ^ uint64_t{process} << 40) * 0x9E3779B97F4A7C15U >> 32;
    size_t at = mixed * kNeighbours + number % kNeighbours;
    for (at &= slots_.size() - 1; slots_[at].sequence >= 0; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].sequence == sequence && slots_[at].process == process) break;
    return at;
  }
  void Grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(std::max<size_t>(64, slots_.size() * 2)));
    for (const Slot& slot : old)
      if (slot.sequence >= 0) slots_[PlaceOf(slot.process, slot.sequence)] = slot;
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace dladvisor
