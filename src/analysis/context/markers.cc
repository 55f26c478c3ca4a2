// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/markers.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <utility>

namespace dladvisor {
namespace {

// The Python string literal that follows `key` in a dict's text, unescaped; "" where there is none.
std::string StringAfter(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  if (at == std::string_view::npos) return "";
  at = text.find_first_not_of(" :", at + key.size());
  if (at == std::string_view::npos || (text[at] != '\'' && text[at] != '"')) return "";
  const char quote = text[at];
  std::string value;
  for (size_t i = at + 1; i < text.size() && text[i] != quote; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    value += text[i];
  }
  return value;
}

// The items of the list of strings that follows `key`, one per line.
std::string ListAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  const size_t open = at == std::string_view::npos ? at : text.find('[', at);
  std::string lines;
  for (size_t i = open; i < text.size() && text[i] != ']'; ++i) {
    if (text[i] != '\'' && text[i] != '"') continue;
    const size_t end = text.find(text[i], i + 1);
    if (end == std::string_view::npos) break;
    lines += (lines.empty() ? "" : "\n") + std::string(text.substr(i + 1, end - i - 1));
    i = end;
  }
  return lines;
}

std::string Shapes(std::string_view text) {
  std::string shapes;
  for (size_t at = text.find("'shape':"); at != std::string_view::npos; at = text.find("'shape':", at + 1)) {
    const size_t open = text.find('(', at), close = text.find(')', at);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) break;
    shapes += (shapes.empty() ? "" : "; ") + std::string(text.substr(open, close - open + 1));
  }
  return shapes;
}

// A funcStack as DLProf's reports print it: /<module>/Net::forward/Linear::_call_impl(2) ->
// /module/Net::forward/Linear::_call_impl[2].
std::string FunctionPath(std::string path) {
  static const RE2 occurrence(R"(\((\d+)\)(/|$))"), scope("<([^<>/]*)>");
  RE2::GlobalReplace(&path, occurrence, R"([\1]\2)");
  RE2::GlobalReplace(&path, scope, R"(\1)");
  return path;
}

}  // namespace

Marker ParseMarker(std::string_view text) {
  Marker marker;
  if (text.starts_with("{")) {
    if (std::string stack = StringAfter(text, "'funcStack'"); !stack.empty()) {
      marker.kind = Marker::Kind::kTrace;
      marker.name = FunctionPath(std::move(stack));
      marker.stack = ListAfter(text, "'traceMarker'");
      return marker;
    }
    if (std::string op = StringAfter(text, "'op'"); !op.empty()) {
      marker.kind = Marker::Kind::kOp;
      marker.name = std::move(op);
      marker.dtype = StringAfter(text, "'dtype'");
      marker.shapes = Shapes(text);
      return marker;
    }
  }
  marker.name = NormalizedRangeName(text);
  return marker;
}

std::string_view WithoutCall(std::string_view text) {
  for (size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',', comma + 1))
    for (const std::string_view appended : {", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "})
      if (text.substr(comma).starts_with(appended)) return text.substr(0, comma);
  return text;
}

std::string NormalizedRangeName(std::string_view text) {
  text = WithoutCall(text);
  // What is replaced holds a digit or a #.
  if (text.find_first_of("0123456789#") == std::string_view::npos) return std::string(text);
  static const RE2 step(kNumberedStep);
  static const RE2 other(R"(((?:(?:^|[^A-Za-z])(?i:epoch|(?:micro|mini)[-_ ]?batch|batch)[_ :]*)|#)(\d+))");
  // Ranks of one job then have the same ops: "step2003-rank7".
  static const RE2 rank(R"((#.*[^A-Za-z](?i:rank)[_ #:-]?)(\d{1,6}))");
  static const RE2 twice("##");
  static const RE2 address("0x[0-9a-fA-F]{6,}");
  std::string name(text);
  RE2::GlobalReplace(&name, step, "\\1#");
  RE2::GlobalReplace(&name, other, "\\1#");
  RE2::Replace(&name, rank, "\\1#");
  RE2::GlobalReplace(&name, twice, "#");
  RE2::GlobalReplace(&name, address, "0x#");
  return name;
}

std::string OpTypeOfName(std::string_view name) {
  // Fused layers are named by all they hold, first what decides: "/conv1/Conv + /relu/Relu".
  std::string_view first = name.substr(0, name.find(" + "));
  const size_t slash = first.rfind('/');
  static const RE2 identifier("[A-Za-z_][\\w.:-]*");
  if (slash != std::string_view::npos &&
      RE2::FullMatch(re2::StringPiece(first.data() + slash + 1, first.size() - slash - 1), identifier))
    name = first.substr(slash + 1);
  const size_t colons = name.rfind("::");
  if (colons != std::string_view::npos && colons + 2 < name.size() &&
      name.find('<') == std::string_view::npos)
    name = name.substr(colons + 2);
  return std::string(name);
}

}  // namespace dladvisor
