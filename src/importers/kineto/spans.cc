// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/spans.h"

#include <algorithm>

namespace dladvisor::kineto {
namespace {

std::string_view Bare(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    return token.substr(1, token.size() - 2);
  return token;
}

// A node of ONNX Runtime is named for its place in the model, what it computes stands beside it: "MatMul
// (CPU)".
std::string NodeName(const Event& e) {
  std::string_view provider = e.node_provider;
  constexpr std::string_view kKind = "ExecutionProvider";
  if (provider.ends_with(kKind)) provider.remove_suffix(kKind.size());
  std::string name(e.node_operator);
  if (!provider.empty()) name.append(" (").append(provider).append(")");
  return name;
}

bool IsNode(const Event& e) { return !e.node_operator.empty() && Bare(e.category) == "Node"; }

// What passes around a node, as far as older versions record it.
bool IsFence(const Event& e) {
  const std::string_view name = Bare(e.name);
  return name.ends_with("_fence_before") || name.ends_with("_fence_after");
}

}  // namespace

void Spans::Add(const Event& e, StringPool& names) {
  if (e.start == kUnknown || (e.phase == 'X' && (e.duration == kUnknown || e.duration < 0))) return;
  const auto text = [&](std::string_view raw) {
    return raw.empty() ? kNoName : names.Intern(Unescape(Bare(raw), buffer_));
  };
  const bool is_node = IsNode(e);
  if (is_node && IsFence(e)) return;
  all_.push_back({.phase = e.phase == 'f' ? 't' : e.phase,
                  .start = e.start,
                  .duration = std::max<Ns>(0, e.duration),
                  .name = is_node ? names.Intern(NodeName(e)) : text(e.name),
                  .category = text(e.category),
                  .pid = text(e.pid),
                  .tid = text(e.tid),
                  .id = text(e.flow),
                  .exact_start = e.exact_start,
                  .exact_end = e.exact_end,
                  .device = e.device,
                  .stream = e.stream,
                  .calling_process = text(e.calling_process),
                  .calling_thread = text(e.calling_thread),
                  .arguments = text(e.call_arguments)});
}

void Spans::Append(const std::vector<Span>& chunk, const std::vector<NameId>& map) {
  for (Span span : chunk) {
    for (NameId* name : {&span.name, &span.category, &span.pid, &span.tid, &span.id, &span.calling_process,
                         &span.calling_thread, &span.arguments})
      *name = map[*name];
    all_.push_back(span);
  }
}

}  // namespace dladvisor::kineto
