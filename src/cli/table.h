// SPDX-License-Identifier: Apache-2.0
// Rows on a terminal.
#pragma once

#include <cstdint>
#include <string>

#include "engine/store/database.h"

namespace dladvisor {

// One line per row, values as people read them; what does not show cannot reach the terminal. Every line
// begins with `indent`; cells wider than `max_width` end in an ellipsis.
std::string TableText(const ResultSet& result, const std::string& indent = "", size_t max_width = SIZE_MAX);
void PrintTable(const ResultSet& result, const std::string& indent = "", size_t max_width = SIZE_MAX);

}  // namespace dladvisor
