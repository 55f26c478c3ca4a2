// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/op_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "src/render/escape.h"
#include "src/report/formats/table_cells.h"

namespace dladvisor {
namespace {

// What is smaller is left out, and said to be; branches of so much are open at first, down to a depth.
constexpr double kLeastShare = 0.002, kOpenShare = 0.1;
constexpr size_t kOpenDepth = 3, kMostDepth = 24, kLongestName = 96;

struct Node {
  double own = 0, total = 0;
  bool given = false;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
};

void AddPath(Node& root, std::string_view path, double ns) {
  Node* node = &root;
  for (size_t depth = 0; !path.empty(); ++depth) {
    if (path.front() == '/') {
      path.remove_prefix(1);
      continue;
    }
    const size_t end = depth + 1 >= kMostDepth ? path.size() : std::min(path.find('/'), path.size());
    auto& child = node->children[std::string(path.substr(0, end))];
    if (!child) child = std::make_unique<Node>();
    node = child.get();
    path.remove_prefix(end);
  }
  node->own += ns;
  node->given = true;
}

void SumUp(Node& node, bool inclusive) {
  double below = 0;
  for (auto& [name, child] : node.children) {
    SumUp(*child, inclusive);
    below += child->total;
  }
  node.total = inclusive && node.given ? std::max(node.own, below) : node.own + below;
}

std::string Label(const std::string& name, const Node& node, double whole) {
  return fmt::format(
      "<span class=\"branch\" style=\"--w:{:.1f}%\"><span>{}</span><b>{}</b><span "
      "class=\"share-of\">{}</span></span>",
      node.total / whole * 100, Breakable(Ellipsize(Visible(name), kLongestName)),
      FormatValue(node.total, Unit::kNanoseconds), FormatValue(node.total / whole, Unit::kRatio));
}

std::string ListHtml(const Node& node, double whole, size_t depth);

std::string NodeHtml(std::string name, const Node* node, double whole, size_t depth) {
  // A place with nothing but one other in it is one with that.
  while (node->children.size() == 1 && node->own < kLeastShare * whole) {
    name += "/" + node->children.begin()->first;
    node = node->children.begin()->second.get();
  }
  const std::string below = ListHtml(*node, whole, depth + 1);
  if (below.empty()) return fmt::format("<li>{}</li>", Label(name, *node, whole));
  return fmt::format("<li><details{}><summary>{}</summary>{}</details></li>",
                     depth < kOpenDepth && node->total >= kOpenShare * whole ? " open" : "",
                     Label(name, *node, whole), below);
}

std::string ListHtml(const Node& node, double whole, size_t depth) {
  std::vector<const std::pair<const std::string, std::unique_ptr<Node>>*> children;
  double small = 0;
  size_t left_out = 0;
  for (const auto& child : node.children) {
    if (child.second->total >= kLeastShare * whole) {
      children.push_back(&child);
    } else {
      small += child.second->total;
      ++left_out;
    }
  }
  if (children.empty()) return "";
  std::ranges::stable_sort(children,
                           [](const auto* a, const auto* b) { return a->second->total > b->second->total; });
  std::string html = "<ul>";
  for (const auto* child : children) html += NodeHtml(child->first, child->second.get(), whole, depth);
  if (left_out > 0)
    html += fmt::format("<li class=\"hint\">{} smaller: {}</li>", left_out,
                        FormatValue(small, Unit::kNanoseconds));
  return html + "</ul>";
}

}  // namespace

std::string OpTreeHtml(const ReportTable& table, const char* name, bool inclusive) {
  Node root;
  for (size_t row = 0; row < table.rows.rows.size(); ++row) {
    const std::string path = CellText(table, row, name, Unit::kText);
    if (const double ns = CellNumber(table, row, "gpu_ns"); ns > 0) AddPath(root, path, ns);
  }
  SumUp(root, inclusive);
  if (!(root.total > 0) || table.rows.rows.size() < 2) return "";
  return "<div class=\"tree\">" + ListHtml(root, root.total, 0) + "</div>";
}

}  // namespace dladvisor
