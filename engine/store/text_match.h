// SPDX-License-Identifier: Apache-2.0
// LIKE and REGEXP as SQL functions have them, of texts that lie anywhere.
#pragma once

#include <string_view>

namespace dladvisor {

// The letters between the two % of a pattern of LIKE that asks for a part of a text and nothing else; "" of
// others.
std::string_view PartAskedFor(std::string_view pattern);

// Whether the text has the part, whose ASCII letters may be small or large. REQUIRES: the part is not empty.
bool HasPart(std::string_view text, std::string_view part);

}  // namespace dladvisor
