// Ops are named by the path of ranges that enclose them, e.g. "/train_step/forward/aten::linear"; a DLProf
// marker brings its path with it, and the ranges inside it (emit_nvtx's, say) are parts of its op. Paths are
// interned as (parent, segment), so that millions of range instances cost one integer each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/analysis/context.h"
#include "src/analysis/markers.h"

namespace dladvisor {

using PathId = uint32_t;
inline constexpr PathId kNoPath = 0;

class OpPaths {
 public:
  // `parent` of each range as in Attribution.
  OpPaths(const Trace& trace, const std::vector<uint32_t>& range_parent);

  // Path of the op that a range belongs to; kNoPath for kNoIndex.
  PathId Of(uint32_t range) const { return range == kNoIndex ? kNoPath : of_range_[range]; }
  // Whether a range is a call of its op, not a part of one (inside a DLProf marker).
  bool IsCall(uint32_t range) const { return is_call_[range] != 0; }
  // Where a path was named by a DLProf marker.
  bool IsMarked(PathId path) const { return nodes_[path].marked; }

  std::string Text(PathId path) const;  // "/a/b/c"; "" for kNoPath
  std::string OpType(PathId path) const;
  const Marker* OpMarker(PathId path) const;     // the first inner DLProf marker of the op, or null
  const Marker* TraceMarker(PathId path) const;  // the outer one, or null
  size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    PathId parent = kNoPath;
    std::string segment;  // a whole path where `absolute`
    bool absolute = false, marked = false;
    const Marker* op = nullptr;
    const Marker* trace = nullptr;
  };
  PathId Child(PathId parent, NameId name, const Marker& marker);
  PathId Absolute(const Marker& marker);

  std::vector<Node> nodes_;
  std::vector<PathId> of_range_;
  std::vector<uint8_t> is_call_;
  std::unordered_map<NameId, Marker> markers_;
  std::unordered_map<uint64_t, PathId> children_;
  std::unordered_map<std::string, PathId> absolutes_, segments_;
};

// The path of a range as text; "(no range)" for kNoIndex.
std::string OpPathText(const Context& context, uint32_t range);

}  // namespace dladvisor
