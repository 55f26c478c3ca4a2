// SPDX-License-Identifier: Apache-2.0
// What is unknown, or no UTF-8, in the JSON of gates and comparisons.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace dladvisor {

// null where there is none, or no finite one.
nlohmann::ordered_json JsonOf(const std::optional<double>& number);
nlohmann::ordered_json JsonOf(const std::vector<std::string>& texts);

}  // namespace dladvisor
