// SPDX-License-Identifier: Apache-2.0
// What SQLite takes without a word, and hardly any author means: a join of every row with every other, the
// first of many rows as a value, a shift of bits, a wildcard that is compared as it stands, a percentile
// given as a share, a number where a text is compared or that divides by nothing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/database.h"

namespace dladvisor {

struct OddSql {
  std::string reason;
  size_t offset = 0;        // in the SQL
  bool is_certain = false;  // an error, not a warning
  std::string column = {};  // where the subject's of that name may be meant
};

std::vector<OddSql> FindOddSql(std::string_view sql, const Database& db);

// Of SQL whose result is taken for ns: where a time, as `is_time` knows its name, is divided by a thousand, a
// million or a billion.
std::vector<OddSql> FindScaledTimes(std::string_view sql,
                                    const std::function<bool(std::string_view)>& is_time);

// Whether the expression is a hundred times a single name: "share * 100".
bool IsHundredfold(std::string_view sql);

}  // namespace dladvisor
