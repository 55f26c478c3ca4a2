// SPDX-License-Identifier: Apache-2.0
// Ops are named by the path of ranges that enclose them, e.g. "/train_step/forward/aten::linear". A DLProf
// marker brings its path with it, and every range inside it (emit_nvtx's, or DLProf's own of functions called
// by the op) is a part of its op. Paths are interned as a tree, so that millions of range instances cost one
// integer each, and equal texts are equal paths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/int_column.h"
#include "src/analysis/context/context.h"
#include "src/analysis/context/markers.h"
#include "src/analysis/context/range_text.h"

namespace dladvisor {

using PathId = uint32_t;
inline constexpr PathId kNoPath = 0;

class OpPaths {
 public:
  // `parent` of each range as in Attribution. `texts` must outlive it.
  OpPaths(const Trace& trace, const RangeTexts& texts, const std::vector<uint32_t>& range_parent);

  // Path of the op that a range belongs to; kNoPath for kNoIndex.
  PathId Of(uint32_t range) const { return range == kNoIndex ? kNoPath : of_range_[range]; }
  // Whether a range is a call of its op, not a part of one. A call of a DLProf op is its inner marker: the
  // outer one includes the walk over the Python stack that made it.
  bool IsCall(uint32_t range) const { return is_call_[range]; }
  // Where a path was named by a DLProf marker.
  bool IsMarked(PathId path) const { return nodes_[path].marked; }

  std::string Text(PathId path) const;  // "/a/b/c"; "" for kNoPath
  std::string OpType(PathId path) const;
  // "bprop" or "fprop", "" where neither markers nor names show it.
  std::string_view Direction(PathId path) const;
  const Marker* OpMarker(PathId path) const { return nodes_[path].op; }        // the op's inner DLProf marker
  const Marker* TraceMarker(PathId path) const { return nodes_[path].trace; }  // the outer one; or null
  size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    PathId parent = kNoPath;
    uint32_t depth = 0;
    std::string segment;
    std::string_view range_name;  // of the first range that ends here, normalised; "" where none does
    bool marked = false;
    const Marker* op = nullptr;
    const Marker* trace = nullptr;
  };
  PathId PathOf(uint32_t range, uint32_t outer, const Trace& trace);
  static void Name(Node& node, const Marker& marker);
  PathId Descend(PathId parent, std::string_view name);
  PathId Step(PathId parent, std::string_view segment);

  std::vector<Node> nodes_;
  IndexColumn of_range_;
  std::vector<bool> is_call_;
  const RangeTexts& texts_;
  std::unordered_map<uint64_t, PathId> by_text_;        // (parent << 32 | index of the range's text)
  std::unordered_map<std::string, PathId> by_segment_;  // "parent/segment"
};

// The op of kernels of this name outside all ranges.
std::string OpOfLoneKernel(std::string_view short_name);

// The path of a range as text; "(no range)" for kNoIndex.
std::string OpPathText(const Context& context, uint32_t range);

}  // namespace dladvisor
