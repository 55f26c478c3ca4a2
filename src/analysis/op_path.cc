#include "src/analysis/op_path.h"

#include <cstdint>

namespace dladvisor {

OpPaths::OpPaths(const Trace& trace, const std::vector<uint32_t>& range_parent) : nodes_(1) {
  const Ranges& ranges = trace.ranges;
  of_range_.assign(ranges.size(), kNoPath);
  is_call_.assign(ranges.size(), 1);
  // A parent starts no later than its child, but among equal starts it may come later in the table: resolve
  // on demand along the chain.
  std::vector<uint32_t> chain;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    for (uint32_t r = i; r != kNoIndex && of_range_[r] == kNoPath; r = range_parent[r]) chain.push_back(r);
    for (; !chain.empty(); chain.pop_back()) {
      const uint32_t range = chain.back();
      const NameId name = ranges.name[range];
      const auto [entry, is_new] = markers_.try_emplace(name);
      if (is_new) entry->second = ParseMarker(trace.names.View(name));
      const Marker& marker = entry->second;
      const PathId parent = Of(range_parent[range]);
      if (marker.kind == Marker::Kind::kTrace) {
        of_range_[range] = Absolute(marker);
      } else if (parent != kNoPath && nodes_[parent].marked) {
        of_range_[range] = parent;
        is_call_[range] = 0;
        if (marker.kind == Marker::Kind::kOp && !nodes_[parent].op) nodes_[parent].op = &marker;
      } else {
        of_range_[range] = Child(parent, name, marker);
      }
    }
  }
}

PathId OpPaths::Absolute(const Marker& marker) {
  const auto [entry, is_new] = absolutes_.try_emplace(marker.name, static_cast<PathId>(nodes_.size()));
  if (is_new) nodes_.push_back({kNoPath, marker.name, true, true, nullptr, &marker});
  return entry->second;
}

PathId OpPaths::Child(PathId parent, NameId name, const Marker& marker) {
  // Names that differ only in numbers share a segment, so the segment's id, not the name's, makes the key.
  const auto [by_name, new_name] = children_.try_emplace((uint64_t{parent} << 32) | name, kNoPath);
  if (!new_name) return by_name->second;
  const auto [entry, is_new] =
      segments_.try_emplace(std::to_string(parent) + '/' + marker.name, static_cast<PathId>(nodes_.size()));
  if (is_new) {
    const bool op = marker.kind == Marker::Kind::kOp;
    nodes_.push_back({parent, marker.name, false, op, op ? &marker : nullptr, nullptr});
  }
  return children_[(uint64_t{parent} << 32) | name] = entry->second;
}

std::string OpPaths::Text(PathId path) const {
  std::vector<const Node*> chain;
  for (PathId p = path; p != kNoPath; p = nodes_[p].parent) {
    chain.push_back(&nodes_[p]);
    if (nodes_[p].absolute) break;
  }
  std::string text;
  for (auto node = chain.rbegin(); node != chain.rend(); ++node)
    text += (*node)->absolute ? (*node)->segment : "/" + (*node)->segment;
  return text;
}

std::string OpPaths::OpType(PathId path) const {
  const Node& node = nodes_[path];
  if (node.op) return node.op->name;
  if (node.absolute) return node.segment.substr(node.segment.rfind('/') + 1);
  return OpTypeOfName(node.segment);
}

const Marker* OpPaths::OpMarker(PathId path) const { return nodes_[path].op; }
const Marker* OpPaths::TraceMarker(PathId path) const { return nodes_[path].trace; }

std::string OpPathText(const Context& context, uint32_t range) {
  const PathId path = context.paths->Of(range);
  return path == kNoPath ? "(no range)" : context.paths->Text(path);
}

}  // namespace dladvisor
