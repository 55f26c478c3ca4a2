// SPDX-License-Identifier: Apache-2.0
// The names that occur in columns of millions of rows.
#pragma once

#include <vector>

#include "src/trace/trace.h"

namespace dladvisor {

// Each once but for "", in the order of their first rows.
std::vector<NameId> DistinctNames(const Trace& trace, const std::vector<NameId>& column);
std::vector<NameId> DistinctNames(const Trace& trace, const IndexColumn& column);

}  // namespace dladvisor
