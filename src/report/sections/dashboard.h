// SPDX-License-Identifier: Apache-2.0
// Which figures stand together.
#pragma once

#include <span>
#include <string_view>

namespace dladvisor {

// Ids of figures, in order of display.
std::span<const std::string_view> PerformanceFigures();
std::span<const std::string_view> SystemFigures();

}  // namespace dladvisor
