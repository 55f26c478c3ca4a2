// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/json_cells.h"

#include <cmath>

#include "engine/base/text.h"

namespace dladvisor {

nlohmann::ordered_json JsonOf(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

nlohmann::ordered_json JsonOf(const std::vector<std::string>& texts) {
  auto items = nlohmann::ordered_json::array();
  for (const std::string& text : texts) items.push_back(ValidUtf8(text));
  return items;
}

}  // namespace dladvisor
