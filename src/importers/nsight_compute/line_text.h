// SPDX-License-Identifier: Apache-2.0
// Parts of a line.
#pragma once

#include <re2/re2.h>

#include <string_view>

#include "engine/base/trim.h"

namespace dladvisor::nsight_compute {

inline re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace dladvisor::nsight_compute
