// SPDX-License-Identifier: Apache-2.0
// Patterns of REGEXP and regexp_extract() that are wrong. A statement compiles them only when it runs, which
// is too late for their author.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/database.h"

namespace dladvisor {

struct BadPattern {
  std::string reason;
  size_t offset = 0;  // in the SQL
};

// Of the patterns of `sql` that are texts or params.
std::vector<BadPattern> BadPatterns(std::string_view sql, const Database& db,
                                    std::span<const Binding> params);

}  // namespace dladvisor
