// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/op_path.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace dladvisor {
namespace {

// Recursion deeper than this, or ranges that were never popped, belong to the path so far: the text of paths
// would grow with the square of their depth.
constexpr uint32_t kMaxDepth = 100;
constexpr std::string_view kNoRange = "(no range)";

}  // namespace

OpPaths::OpPaths(const Trace& trace, const RangeTexts& texts, const std::vector<uint32_t>& range_parent)
    : nodes_(1), texts_(texts) {
  const Ranges& ranges = trace.ranges;
  of_range_.reserve(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) of_range_.push_back(kNoPath);
  is_call_.assign(ranges.size(), true);
  // A parent starts no later than its child, but among equal starts it may come later in the table: resolve
  // on demand along the chain.
  std::vector<uint32_t> chain;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    for (uint32_t r = i; r != kNoIndex && of_range_[r] == kNoPath; r = range_parent[r]) chain.push_back(r);
    for (; !chain.empty(); chain.pop_back())
      of_range_.Set(chain.back(), PathOf(chain.back(), range_parent[chain.back()], trace));
  }
}

PathId OpPaths::PathOf(uint32_t range, uint32_t outer, const Trace& trace) {
  const uint32_t text = texts_.IndexOf(trace.ranges.name[range]);
  const Marker& marker = texts_.MarkerAt(text);
  const PathId parent = Of(outer);
  if (parent != kNoPath && nodes_[parent].marked) {
    is_call_[range] = false;
    if (marker.kind == Marker::Kind::kOp) {
      if (!nodes_[parent].op) nodes_[parent].op = &marker;
      if (is_call_[outer] && texts_.MarkerOf(trace.ranges.name[outer]).kind == Marker::Kind::kTrace) {
        is_call_[range] = true;
        is_call_[outer] = false;
      }
    }
    return parent;
  }
  const PathId from = marker.kind == Marker::Kind::kTrace ? kNoPath : parent;
  const auto [known, is_new_path] = by_text_.try_emplace((uint64_t{from} << 32) | text, kNoPath);
  if (is_new_path) {
    known->second = Descend(from, marker.name);
    Name(nodes_[known->second], marker);
  }
  if (known->second == parent) is_call_[range] = false;
  return known->second;
}

void OpPaths::Name(Node& node, const Marker& marker) {
  if (node.range_name.empty()) node.range_name = marker.name;
  node.marked |= marker.kind != Marker::Kind::kPlain;
  if (marker.kind == Marker::Kind::kTrace && !node.trace) node.trace = &marker;
  if (marker.kind == Marker::Kind::kOp && !node.op) node.op = &marker;
}

PathId OpPaths::Descend(PathId parent, std::string_view name) {
  const PathId from = parent;
  while (!name.empty()) {
    const size_t slash = std::min(name.find('/'), name.size());
    if (slash > 0) parent = Step(parent, name.substr(0, slash));
    name.remove_prefix(std::min(slash + 1, name.size()));
  }
  return parent != from || from != kNoPath ? parent : Step(from, "(unnamed)");
}

PathId OpPaths::Step(PathId parent, std::string_view segment) {
  if (nodes_[parent].depth == kMaxDepth) return parent;
  std::string key = std::to_string(parent) + '/';
  key += segment;
  const auto [entry, is_new] = by_segment_.try_emplace(std::move(key), static_cast<PathId>(nodes_.size()));
  if (is_new) {
    Node& node = nodes_.emplace_back();
    node.parent = parent;
    node.depth = nodes_[parent].depth + 1;
    node.segment = segment;
  }
  return entry->second;
}

std::string OpPaths::Text(PathId path) const {
  std::vector<PathId> chain;
  for (PathId p = path; p != kNoPath; p = nodes_[p].parent) chain.push_back(p);
  std::string text;
  for (auto p = chain.rbegin(); p != chain.rend(); ++p) text += '/' + nodes_[*p].segment;
  return text;
}

std::string OpPaths::OpType(PathId path) const {
  const Node& node = nodes_[path];
  if (node.op) return node.op->name;
  return OpTypeOfName(node.marked || node.range_name.empty() ? node.segment : node.range_name);
}

std::string_view OpPaths::Direction(PathId path) const {
  bool forward = nodes_[path].marked;
  for (PathId p = path; p != kNoPath; p = nodes_[p].parent) {
    const std::string& segment = nodes_[p].segment;
    const auto has = [&](std::string_view part) { return segment.find(part) != std::string::npos; };
    if (has("Backward") || has("backward") || segment == "bprop" || segment == "bwd") return "bprop";
    forward |= has("aten::") || has("forward") || has("Forward") || segment == "fprop" || segment == "fwd";
  }
  return forward ? "fprop" : "";
}

std::string OpOfLoneKernel(std::string_view short_name) {
  std::string op(kNoRange);
  op += '/';
  return op += short_name;
}

std::string OpPathText(const Context& context, uint32_t range) {
  const PathId path = context.paths->Of(range);
  return path == kNoPath ? std::string(kNoRange) : context.paths->Text(path);
}

}  // namespace dladvisor
