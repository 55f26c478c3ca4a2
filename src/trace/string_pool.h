// SPDX-License-Identifier: Apache-2.0
// Interned names: each distinct string is stored once and known by a dense 32-bit id; id 0 is "".
// Views stay valid for the life of the pool. Not thread-safe for writing.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
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

  NameId Intern(std::string_view text) {
    if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    const std::string& owned = storage_.emplace_back(text);
    const NameId id = static_cast<NameId>(views_.size());
    views_.push_back(owned);
    ids_.emplace(owned, id);
    return id;
  }
  std::string_view View(NameId id) const { return views_[id]; }
  size_t size() const { return views_.size(); }

 private:
  std::deque<std::string> storage_;
  std::vector<std::string_view> views_;
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace dladvisor
