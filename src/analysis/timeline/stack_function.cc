// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/stack_function.h"

#include <re2/re2.h>

namespace dladvisor {

bool NamesAFunction(std::string_view frame) {
  static const RE2 nothing(
      R"(^(main|_start|start_thread|clone3?|__clone|__libc_start.*|_?Py\w+|NSYS_.*|0x[0-9a-fA-F]+|\[.*)$)");
  return !frame.empty() && !RE2::FullMatch(re2::StringPiece(frame.data(), frame.size()), nothing);
}

std::string OwnFunction(std::string_view frame) {
  static const RE2 foreign(
      R"(^(_|std::|__?gnu|operator (new|delete)|lib(cuda|cudart|c)[-_.]|cuda[A-Z]|cu[A-Z]))");
  if (!NamesAFunction(frame)) return "";
  std::string name;
  int depth = 0;
  for (const char c : frame) {
    depth -= c == '>' || c == ')';
    if (depth == 0 && c != '<' && c != '>' && c != '(' && c != ')') name.push_back(c);
    depth += c == '<' || c == '(';
  }
  for (const std::string_view end : {" const", " "})
    if (name.ends_with(end)) name.resize(name.size() - end.size());
  if (const size_t space = name.rfind(' ', name.find("operator ")); space != std::string::npos)
    name.erase(0, space + 1);
  while (name.starts_with("::")) name.erase(0, 2);
  return RE2::PartialMatch(name, foreign) ? "" : name;
}

}  // namespace dladvisor
