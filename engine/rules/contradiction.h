// SPDX-License-Identifier: Apache-2.0
// Conditions that no row fulfils together, as `x > 5` and `x < 3`, or that say nothing new, as `x > 5 OR x <=
// 5`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/base/value.h"
#include "engine/model/rule.h"

namespace dladvisor {

struct Contradiction {
  size_t condition = 0;  // the later of the two
  size_t offset = 0;     // in its SQL
  std::string reason;
  bool is_certain = false;  // of numbers as they stand; else of params, which a project may set
};

// Between comparisons of a name with a number, text or param, or with NULL, that conditions consist of, by
// themselves or joined by AND. Others are left alone.
std::vector<Contradiction> FindContradictions(const std::vector<Condition>& conditions,
                                              const std::vector<Param>& params);

// What a value lies between, where its name tells.
enum class Bounds { kUnknown, kNotNegative, kShare };

// Comparisons that hold of whatever is known: both sides of a number joined by OR, or a limit that no value
// of that name can be beyond. The offset is that of the comparison; none is certain, as they ask whether a
// value is known.
std::vector<Contradiction> FindTautologies(const std::vector<Condition>& conditions,
                                           const std::vector<Param>& params,
                                           const std::function<Bounds(const std::string&)>& bounds_of);

}  // namespace dladvisor
