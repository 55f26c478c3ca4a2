// SPDX-License-Identifier: Apache-2.0
#include "src/cli/price.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "engine/base/text.h"

namespace dladvisor {

std::optional<Price> ParsePrice(const std::string& text) {
  constexpr size_t kLongestCurrency = 12;  // bytes
  const std::string line = OneLine(text);
  const size_t start = line.find_first_not_of(' ');
  if (start == std::string::npos) return std::nullopt;
  double amount = 0;
  const auto [end, error] = std::from_chars(line.data() + start, line.data() + line.size(), amount);
  if (error != std::errc() || !std::isfinite(amount) || !(amount > 0)) return std::nullopt;
  std::string currency(end, line.data() + line.size());
  if (currency.starts_with(' ')) currency.erase(0, 1);
  const bool is_word = currency.find_first_of(" 0123456789.,-+/") == std::string::npos;
  if (!is_word || currency.size() > kLongestCurrency) return std::nullopt;
  return Price{amount, currency};
}

}  // namespace dladvisor
