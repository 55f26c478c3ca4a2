// SPDX-License-Identifier: Apache-2.0
// Interned names: each distinct string is stored once and known by a dense 32-bit id; id 0 is "".
// Views stay valid for the life of the pool. Not thread-safe for writing.
//
// Ranges of some programs hardly repeat a text ("aten::linear, op_id = 7"), so that a profile has millions of
// names: texts lie one after another in large blocks, and are found by open addressing with a part of their
// hash beside them, which spares most comparisons and all hashing when the table grows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace dladvisor {

using NameId = uint32_t;
inline constexpr NameId kNoName = 0;

class StringPool {
 public:
  StringPool() { Intern({}); }
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  NameId Intern(std::string_view text) { return Intern(text, HashOf(text)); }

  // Appends the ids of `texts` to `ids`: of millions of them in half the time, as each is looked for while
  // the memory of the next ones is on its way.
  void InternAll(std::span<const std::string_view> texts, std::vector<NameId>& ids) {
    std::array<uint32_t, 16> hashes;
    for (size_t first = 0; first < texts.size(); first += hashes.size()) {
      const size_t count = std::min(hashes.size(), texts.size() - first);
      for (size_t i = 0; i < count; ++i) {
        hashes[i] = HashOf(texts[first + i]);
        __builtin_prefetch(&slots_[hashes[i] & (slots_.size() - 1)]);
      }
      for (size_t i = 0; i < count; ++i) ids.push_back(Intern(texts[first + i], hashes[i]));
    }
  }

  // Of a text that was interned, or kNone.
  static constexpr NameId kNone = UINT32_MAX;
  NameId Find(std::string_view text) const {
    const uint32_t hash = HashOf(text);
    for (size_t at = hash & (slots_.size() - 1); slots_[at] != kFree; at = (at + 1) & (slots_.size() - 1))
      if (hashes_[slots_[at]] == hash && views_[slots_[at]] == text) return slots_[at];
    return kNone;
  }
  std::string_view View(NameId id) const { return views_[id]; }
  size_t size() const { return views_.size(); }

 private:
  static constexpr NameId kFree = UINT32_MAX;
  static constexpr size_t kBlock = 64 << 10;

  static uint32_t HashOf(std::string_view text) {
    return static_cast<uint32_t>(std::hash<std::string_view>{}(text));
  }

  NameId Intern(std::string_view text, uint32_t hash) {
    if (2 * (views_.size() + 1) > slots_.size()) Grow();
    size_t at = hash & (slots_.size() - 1);
    for (; slots_[at] != kFree; at = (at + 1) & (slots_.size() - 1))
      if (hashes_[slots_[at]] == hash && views_[slots_[at]] == text) return slots_[at];
    const auto id = static_cast<NameId>(views_.size());
    slots_[at] = id;
    hashes_.push_back(hash);
    views_.push_back(Keep(text));
    return id;
  }

  void Grow() {
    slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), kFree);
    for (NameId id = 0; id < hashes_.size(); ++id) {
      size_t at = hashes_[id] & (slots_.size() - 1);
      while (slots_[at] != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = id;
    }
  }

  std::string_view Keep(std::string_view text) {
    if (text.empty()) return "";
    if (text.size() > free_) {
      // The first block is small: most pools hold few names.
      free_ = std::max(text.size(), blocks_.empty() ? size_t{1} << 10 : kBlock);
      next_ = blocks_.emplace_back(new char[free_]).get();
    }
    std::memcpy(next_, text.data(), text.size());
    const std::string_view kept(next_, text.size());
    next_ += text.size();
    free_ -= text.size();
    return kept;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;  // where the free bytes of the last block begin
  size_t free_ = 0;
  std::vector<std::string_view> views_;
  std::vector<uint32_t> hashes_;  // of each name
  std::vector<NameId> slots_;     // a power of two of them, at most half taken
};

// The ids of texts that were interned before, found by where they lie: for texts of which each is one view
// that occurs often, and that neither move nor change meanwhile.
class InternedViews {
 public:
  NameId Intern(std::string_view view, StringPool& pool) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = SlotOf(view);
    if (slot.id == kFree) {
      slot = {view, pool.Intern(view)};
      ++count_;
    }
    return slot.id;
  }

 private:
  static constexpr NameId kFree = UINT32_MAX;
  struct Slot {
    std::string_view view;
    NameId id = kFree;
  };

  Slot& SlotOf(std::string_view view) {
    // The high bits of the product depend on all bits of the address.
    const uint64_t hash = (reinterpret_cast<uintptr_t>(view.data()) ^ view.size()) * 0x9E3779B97F4A7C15;
    size_t at = (hash >> 32) & (slots_.size() - 1);
    while (slots_[at].id != kFree &&
           (slots_[at].view.data() != view.data() || slots_[at].view.size() != view.size()))
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }

  void Grow() {
    std::vector<Slot> old(std::max<size_t>(16, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.id != kFree) SlotOf(slot.view) = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half taken
  size_t count_ = 0;
};

}  // namespace dladvisor
