// SPDX-License-Identifier: Apache-2.0
// Ranges of forward operators by their process and the number that autograd gave them: pages of numbers that
// follow one another, as those of neighbours in a program do.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "src/trace/trace.h"

namespace dladvisor {

class ForwardCalls {
 public:
  static constexpr uint32_t kNew = kNoIndex - 1;

  uint32_t& At(uint32_t process, int64_t sequence) {
    Asked& last = LastOf(process);
    const Key key = KeyOf(process, sequence);
    if (last.key != key || last.page == nullptr) {
      const auto [page, is_new] = pages_.try_emplace(key);
      if (is_new) page->second.fill(kNew);
      last = {key, &page->second};
    }
    return (*last.page)[PlaceOf(sequence)];
  }
  // kNoIndex where there is none.
  uint32_t Find(uint32_t process, int64_t sequence) {
    Asked& last = LastOf(process);
    const Key key = KeyOf(process, sequence);
    if (last.key != key) {
      const auto page = pages_.find(key);
      last = {key, page == pages_.end() ? nullptr : &page->second};
    }
    if (last.page == nullptr) return kNoIndex;
    const uint32_t range = (*last.page)[PlaceOf(sequence)];
    return range == kNew ? kNoIndex : range;
  }

 private:
  static constexpr uint64_t kNumbers = 64;  // of a page
  using Page = std::array<uint32_t, kNumbers>;
  using Key = std::pair<uint32_t, uint64_t>;  // process, and number of the page
  struct Hash {
    size_t operator()(const Key& key) const {
      const uint64_t mixed = (key.second ^ uint64_t{key.first} << 40) * 0x9E3779B97F4A7C15U;
      return mixed ^ mixed >> 32;
    }
  };

  // What was asked for last: null where there is no page.
  struct Asked {
    std::optional<Key> key;
    Page* page = nullptr;
  };

  Asked& LastOf(uint32_t process) { return last_[process % last_.size()]; }
  static Key KeyOf(uint32_t process, int64_t sequence) {
    return {process, static_cast<uint64_t>(sequence) / kNumbers};
  }
  static size_t PlaceOf(int64_t sequence) { return static_cast<uint64_t>(sequence) % kNumbers; }

  std::unordered_map<Key, Page, Hash> pages_;
  std::array<Asked, 8> last_;  // of processes that take turns
};

}  // namespace dladvisor
