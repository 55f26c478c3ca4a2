// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/families.h"

#include <algorithm>
#include <array>

namespace dladvisor {

#define FAMILY(name) const Family& name##Family();
#include "src/analysis/families.def"
#undef FAMILY

std::span<const Family* const> AllFamilies() {
  static const std::array families = {
#define FAMILY(name) &name##Family(),
#include "src/analysis/families.def"
#undef FAMILY
  };
  return families;
}

const Family* FindFamily(std::string_view relation) {
  const auto found = std::ranges::find_if(
      AllFamilies(), [&](const Family* family) { return family->schema->name == relation; });
  return found == AllFamilies().end() ? nullptr : *found;
}

}  // namespace dladvisor
