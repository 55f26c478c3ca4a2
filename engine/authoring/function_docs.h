// SPDX-License-Identifier: Apache-2.0
// The functions that SQL of rules and queries may call, with a line on each.
#pragma once

#include <map>
#include <string>

namespace dladvisor {

struct FunctionDoc {
  std::string usage, doc;
};
// By name; of every allowed function (sandbox.h) and no other.
const std::map<std::string, FunctionDoc>& FunctionDocTable();

std::string FunctionDocs();  // a section in Markdown

}  // namespace dladvisor
