// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/range_text.h"

#include <algorithm>
#include <string_view>

#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

constexpr size_t kTextsAtOnce = 1024;

}  // namespace

RangeTexts::RangeTexts(const Trace& trace) : of_name_(trace.names.size(), kNoIndex) {
  constexpr uint32_t kIsUsed = 0;
  for (const NameId name : trace.ranges.name) of_name_[name] = kIsUsed;
  for (NameId name = 0; name < of_name_.size(); ++name) {
    if (of_name_[name] == kNoIndex) continue;
    const std::string_view text = trace.names.View(name);
    // A DLProf marker is a Python literal: what looks appended is part of it.
    of_name_[name] = texts_.Intern(text.starts_with("{") ? text : WithoutCall(text));
  }
  markers_.resize(texts_.size());
  ParallelFor((texts_.size() + kTextsAtOnce - 1) / kTextsAtOnce, [&](size_t part) {
    const size_t end = std::min(texts_.size(), (part + 1) * kTextsAtOnce);
    for (size_t i = part * kTextsAtOnce; i < end; ++i)
      markers_[i] = ParseMarker(texts_.View(static_cast<NameId>(i)));
  });
}

}  // namespace dladvisor
