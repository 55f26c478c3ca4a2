// SPDX-License-Identifier: Apache-2.0
// Conditions of rules in words: what was found, and what was looked for. SQL is kept from readers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/model/advice.h"

namespace dladvisor {

// "Eligible time × 2" of "2 * eligible_ns", "Kind is unknown" of "kind IS NULL"; "" of SQL that has more to
// it than operators, the functions of rules and one sub-query within another.
std::string ExpressionWords(std::string_view sql);

struct ConditionWords {
  std::string what;    // "Idle share"
  std::string here;    // "58.9 %"; or yes, no, unknown
  std::string wanted;  // "more than 15.0 %"; or yes, no
  std::string apart;   // "43.9 percentage points above", or ""
  std::string limit;   // what the threshold's param says of itself, or ""
};

// One for each comparison of a condition; one for a condition that compares nothing.
std::vector<ConditionWords> WordsOf(const ConditionTrace& condition);

}  // namespace dladvisor
