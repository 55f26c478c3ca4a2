// SPDX-License-Identifier: Apache-2.0
// Where in the user's Python code something happened: the innermost frame that is none of the framework's, of
// the standard library's launchers or of installed packages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor {

struct Moment {
  uint32_t thread = kNoIndex;
  Ns time = 0;
};

// "train.py(40): step" for each moment; "" where no frames were recorded or none is the user's.
std::vector<std::string> PythonLines(const Trace& trace, const std::vector<Moment>& moments);

// Whether a frame's name, "FILE(LINE): FUNCTION", is of the user's code.
bool IsUserFrame(std::string_view name);

}  // namespace dladvisor
