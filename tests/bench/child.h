// SPDX-License-Identifier: Apache-2.0
// A run of the program itself, observed from outside.
#pragma once

#include <string>
#include <vector>

namespace dladvisor {

struct ChildRun {
  double seconds = 0;            // from start to end
  double peak_anonymous_mb = 0;  // most memory that belongs to no file
};

// Runs this program again with `arguments`. Throws Error where it does not end well.
ChildRun RunChild(const std::vector<std::string>& arguments);

}  // namespace dladvisor
