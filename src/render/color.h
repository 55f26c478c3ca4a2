// SPDX-License-Identifier: Apache-2.0
// Colours of what the time goes to, as style.css has them for light, dark and print.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor {

// CSS class of a ledger bucket or of a category of the dashboard.
std::string ColorOf(std::string_view category);

}  // namespace dladvisor
