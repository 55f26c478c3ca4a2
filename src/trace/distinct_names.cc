// SPDX-License-Identifier: Apache-2.0
#include "src/trace/distinct_names.h"

#include <cstddef>

namespace dladvisor {
namespace {

template <class Column>
std::vector<NameId> Distinct(size_t names, const Column& column) {
  std::vector<NameId> distinct;
  std::vector<char> seen(names);
  seen[kNoName] = 1;
  for (size_t i = 0; i < column.size(); ++i) {
    const NameId name = column[i];
    if (seen[name]) continue;
    seen[name] = 1;
    distinct.push_back(name);
  }
  return distinct;
}

}  // namespace

std::vector<NameId> DistinctNames(const Trace& trace, const std::vector<NameId>& column) {
  return Distinct(trace.names.size(), column);
}

std::vector<NameId> DistinctNames(const Trace& trace, const IndexColumn& column) {
  return Distinct(trace.names.size(), column);
}

}  // namespace dladvisor
