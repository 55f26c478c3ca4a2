// SPDX-License-Identifier: Apache-2.0
// The price of an hour of a GPU, as --price and dladvisor.yaml give it.
#pragma once

#include <optional>
#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

// "2.5", "2.50 €", "3 USD"; nothing of what is no positive number and a short word.
std::optional<Price> ParsePrice(const std::string& text);

}  // namespace dladvisor
