// SPDX-License-Identifier: Apache-2.0
// JSON as Python's json module writes it, with bare words for numbers that JSON does not know.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor {

// The same with null for each value NaN, Infinity or -Infinity.
std::string PlainJson(std::string_view text);

}  // namespace dladvisor
