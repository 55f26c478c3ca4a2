// SPDX-License-Identifier: Apache-2.0
// What other tools wrote and dladvisor does not read, so that whoever gives such a file is told what it is
// and how to record the program instead, and not that it is unknown.
#pragma once

#include <optional>
#include <string_view>

#include "src/importers/input/input.h"

namespace dladvisor {

struct OtherFormat {
  std::string_view what;       // "a profile of XLA (.xplane.pb)"
  std::string_view next_step;  // an order
};

// By the first bytes of a file, or by the tables of a database; never by its name.
std::optional<OtherFormat> FindOtherFormat(const Input& input);

}  // namespace dladvisor
