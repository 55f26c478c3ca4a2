// SPDX-License-Identifier: Apache-2.0
// Operators of exports by the sizes in the names of their ranges: a hash table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor {

class KnownSizes {
 public:
  // A text, the sizes behind it, and of a convolution those of its result.
  struct Key {
    uint32_t text = 0;
    std::string_view sizes, output;
    bool operator==(const Key&) const = default;
  };

  // What is known of it, kNoIndex at first. The texts must outlive this.
  uint32_t& At(const Key& key) {
    if (slots_.size() < 2 * (entries_.size() + 1)) Grow();
    const uint32_t hash = HashOf(key);
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    for (; slots_[at].entry != kNoIndex; at = (at + 1) & mask)
      if (slots_[at].hash == hash && entries_[slots_[at].entry].key == key)
        return entries_[slots_[at].entry].operation;
    slots_[at] = {hash, static_cast<uint32_t>(entries_.size())};
    return entries_.emplace_back(Entry{key, kNoIndex}).operation;
  }

 private:
  struct Entry {
    Key key;
    uint32_t operation;
  };
  struct Slot {
    uint32_t hash = 0, entry = kNoIndex;
  };

  static uint64_t Mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 32;
  }
  static uint64_t Mix(uint64_t hash, std::string_view text) {
    for (uint64_t word = 0; !text.empty(); word = 0) {
      const size_t taken = std::min(text.size(), sizeof word);
      std::memcpy(&word, text.data(), taken);
      hash = Mix(hash, word);
      text.remove_prefix(taken);
    }
    return hash;
  }
  static uint32_t HashOf(const Key& key) {
    return static_cast<uint32_t>(Mix(Mix(Mix(key.text, key.sizes.size()), key.sizes), key.output));
  }
  void Grow() {
    const std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(std::max<size_t>(64, slots_.size() * 2)));
    for (const Slot& slot : old) {
      if (slot.entry == kNoIndex) continue;
      size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].entry != kNoIndex) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two of them, at most half taken
};

}  // namespace dladvisor
