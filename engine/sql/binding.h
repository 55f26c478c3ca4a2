// SPDX-License-Identifier: Apache-2.0
// A value for a parameter of a statement.
#pragma once

#include <string>

#include "engine/base/value.h"

namespace dladvisor {

// A named value bound to :name in a statement.
struct Binding {
  std::string name;  // without the colon
  Value value;
};

}  // namespace dladvisor
