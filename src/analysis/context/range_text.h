// SPDX-License-Identifier: Apache-2.0
// What the texts of ranges contain (markers.h), worked out once for each text without what is appended to it
// for a single call: a program that numbers its operators has millions of texts, and a hundred of these.
//
// A program may also say in each text which request or sample it works on. Where there are more than
// kMostTexts, those that occur less often than that many texts can on average are taken as one text where
// they differ in numbers and ids only: "request 8f3a-77 token 12" becomes "request #-# token #". Of what is
// still too much, all rare texts are one, kRareText. Texts with the number of a step (kNumberedStep) are kept
// as they are, unless there are too many of these, too.
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
  static constexpr size_t kMostTexts = 20'000;
  static constexpr std::string_view kRareText = "(rare ranges)";

  explicit RangeTexts(const Trace& trace, size_t most_texts = kMostTexts);

  // Index of the marker of a name that names a range. Equal indices are equal texts but for the call.
  uint32_t IndexOf(NameId name) const { return of_name_[name]; }
  const Marker& MarkerAt(uint32_t index) const { return markers_[index]; }
  std::string_view TextAt(uint32_t index) const { return texts_.View(index); }  // without the call
  // Autograd's number of the call, which emit_nvtx appends behind the operator, 71 of "aten::mm, seq = 71";
  // -1 where there is none.
  int64_t SequenceOf(NameId name) const {
    return name < sequences_.size() && sequences_[name] != kNoIndex ? int64_t{sequences_[name]} : -1;
  }
  const Marker& MarkerOf(NameId name) const { return markers_[of_name_[name]]; }
  size_t size() const { return markers_.size(); }

 private:
  // Gives each text that occurs less often than `most_texts` can on average the one that `fold` makes of it.
  // Returns how many texts were kept for the step that they number.
  template <class Fold>
  size_t FoldRare(const Ranges& ranges, size_t most_texts, const Fold& fold);

  std::vector<uint32_t> of_name_;  // kNoIndex for what names no range
  StringPool texts_;
  std::vector<Marker> markers_;
  std::vector<uint32_t> sequences_;  // by name, as far as one has a number
};

}  // namespace dladvisor
