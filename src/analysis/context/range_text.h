// SPDX-License-Identifier: Apache-2.0
// What the texts of ranges contain (markers.h), worked out once for each text without what is appended to it
// for a single call: a program that numbers its operators has millions of texts, and a hundred of these.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/string_pool.h"
#include "src/analysis/context/markers.h"
#include "src/trace/trace.h"

namespace dladvisor {

class RangeTexts {
 public:
  explicit RangeTexts(const Trace& trace);

  // Index of the marker of a name that names a range. Equal indices are equal texts but for the call.
  uint32_t IndexOf(NameId name) const { return of_name_[name]; }
  const Marker& MarkerAt(uint32_t index) const { return markers_[index]; }
  std::string_view TextAt(uint32_t index) const { return texts_.View(index); }  // without the call
  const Marker& MarkerOf(NameId name) const { return markers_[of_name_[name]]; }
  size_t size() const { return markers_.size(); }

 private:
  std::vector<uint32_t> of_name_;  // kNoIndex for what names no range
  StringPool texts_;
  std::vector<Marker> markers_;
};

}  // namespace dladvisor
