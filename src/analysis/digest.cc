// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/digest.h"

#include <algorithm>

namespace dladvisor {

const Table* Digest::Find(std::string_view name) const {
  for (const Table& table : relations)
    if (table.schema().name == name) return &table;
  return nullptr;
}

}  // namespace dladvisor
