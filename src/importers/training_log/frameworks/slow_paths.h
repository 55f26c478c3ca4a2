// SPDX-License-Identifier: Apache-2.0
// What frameworks warn of once that costs time for the whole run: a kernel that is missing and replaced by a
// slow one, an option that searches for nothing, products that may not use tensor cores.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

// Takes what the line warns of, as a setting "slow_path_NAME" with the value "warned".
void TakeSlowPath(std::string_view line, std::map<std::string, std::string>& settings);

}  // namespace dladvisor::training_log
