// SPDX-License-Identifier: Apache-2.0
#include "src/importers/dlprof/dlprof_marker.h"

#include <fmt/format.h>

#include <algorithm>

namespace dladvisor {
namespace {

// Text of a Python literal, as markers hold it.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// DLProf lists source lines one per line; a quote would end an item of a marker's list.
std::string QuotedLines(std::string_view lines) {
  std::string list;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    std::string line(lines.substr(0, end));
    std::erase(line, '\'');
    if (!line.empty()) list += (list.empty() ? "'" : ", '") + line + "'";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return "[" + list + "]";
}

// "[[32,84],[10]]" as the tensors of a marker, of which the first has the element type.
std::string Tensors(std::string_view shapes, std::string_view dtype) {
  std::string tensors;
  const auto add = [&](std::string_view numbers) {
    tensors += tensors.empty() ? "{'type': 'tensor', " : ", {'type': 'tensor', ";
    std::string shape;
    for (const char c : numbers) shape += c == ',' ? ", " : std::string(1, c);
    if (numbers.find(',') == std::string_view::npos) shape += ',';
    tensors += "'shape': (" + shape + ")";
    if (!dtype.empty()) tensors += ", 'dtype': " + Quoted(dtype);
    tensors += '}';
  };
  for (size_t open = shapes.find_last_of('[', 1); open != std::string_view::npos;) {
    const size_t close = shapes.find(']', open);
    if (close == std::string_view::npos) break;
    const std::string_view numbers = shapes.substr(open + 1, close - open - 1);
    if (numbers.find_first_not_of("0123456789,") == std::string_view::npos && !numbers.empty()) add(numbers);
    open = shapes.find('[', close);
  }
  if (tensors.empty() && !dtype.empty()) tensors = "{'type': 'tensor', 'dtype': " + Quoted(dtype) + "}";
  return "[" + tensors + "]";
}

}  // namespace

std::string PathMarker(std::string_view stack, std::string_view path) {
  return fmt::format("{{'traceMarker': {}, 'funcStack': {}}}", QuotedLines(stack), Quoted(path));
}

std::string OpMarker(std::string_view op_type, std::string_view shapes, std::string_view dtype) {
  return fmt::format("{{'op': {}, 'args': {}}}", Quoted(op_type), Tensors(shapes, dtype));
}

}  // namespace dladvisor
