// SPDX-License-Identifier: Apache-2.0
// What a statement reads.
#pragma once

#include <string>
#include <vector>

namespace dladvisor {

// One column that a statement reads, as SQLite's authorizer reports it.
struct ColumnRead {
  std::string relation, column;
  bool operator==(const ColumnRead&) const = default;
  auto operator<=>(const ColumnRead&) const = default;
};

// What a statement names: relations also where it reads none of their columns, as in count(*).
struct SqlReads {
  std::vector<ColumnRead> columns;      // sorted, without duplicates
  std::vector<std::string> relations;   // sorted
  std::vector<std::string> parameters;  // of :name
};

}  // namespace dladvisor
