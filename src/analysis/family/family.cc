// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/family/family.h"

#include <algorithm>

namespace dladvisor {

const Table* FleetTables::Find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(tables, [&](const Table& table) { return table.schema().name == name; });
  return found == tables.end() ? nullptr : &*found;
}

}  // namespace dladvisor
